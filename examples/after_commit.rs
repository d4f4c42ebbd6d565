//! A transaction over several functions: what they invalidate waits for its commit.
//!
//! The functions of a repository write within a transaction that its caller commits. Invalidated before the commit, the old
//! rows would be read and cached again.
//!
//! ```sh
//! cargo run -p examples --example after_commit
//! ```

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use cache_core::{AfterCommit, cache_invalidate, cache_result};

/// Accounts and what is on them, in cents.
#[derive(Default)]
struct Bank(Mutex<BTreeMap<&'static str, i64>>);

/// Changes that nobody else sees before they are committed.
#[derive(Default)]
struct Transaction(Vec<(&'static str, i64)>);

impl Bank {
    #[cache_result(cache = "balance")]
    async fn balance(&self, account: &str) -> i64 {
        println!("  reading the balance of {account}");
        self.rows().get(account).copied().unwrap_or(0)
    }

    /// Writes, and leaves it to the caller to commit.
    #[cache_invalidate(cache = "balance")]
    async fn add(
        &self,
        tx: &mut Transaction,
        #[cache_key] account: &'static str,
        cents: i64,
    ) -> Result<(), String> {
        if cents == 0 {
            return Err("nothing to transfer".to_owned());
        }
        tx.0.push((account, cents));
        Ok(())
    }

    /// Both or none. An early return by `?` needs no care: then everything collected is invalidated, once too often.
    async fn transfer(
        &self,
        from: &'static str,
        to: &'static str,
        cents: i64,
    ) -> Result<(), String> {
        let (mut tx, after) = (Transaction::default(), AfterCommit::new());
        after.collect(self.add(&mut tx, from, -cents)).await?;
        after.collect(self.add(&mut tx, to, cents)).await?;
        println!("  {to} has {} before the commit", self.balance(to).await);
        self.commit(tx);
        after.committed().await;
        Ok(())
    }

    fn commit(&self, tx: Transaction) {
        for (account, cents) in tx.0 {
            *self.rows().entry(account).or_default() += cents;
        }
    }

    fn rows(&self) -> std::sync::MutexGuard<'_, BTreeMap<&'static str, i64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[tokio::main]
async fn main() -> Result<(), String> {
    let bank = Bank::default();
    println!(
        "ada has {}, bob has {}",
        bank.balance("ada").await,
        bank.balance("bob").await
    );
    bank.transfer("ada", "bob", 500).await?;
    println!(
        "ada has {}, bob has {}",
        bank.balance("ada").await,
        bank.balance("bob").await
    );
    Ok(())
}
