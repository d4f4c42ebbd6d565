//! New and changed categories, products, prices and stock.

use sqlx::{Any, Transaction};

use super::{
    Store,
    catalog::{PRODUCT, ProductRow, category, inventory, product},
};
use crate::{
    error::Error,
    model::{
        Category, Inventory, NewCategory, NewInventory, NewPrice, NewProduct, Price, Product,
        ProductChange,
    },
    money::Cents,
};

/// What a change of stock did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Restocked {
    /// The product came into the shop or left it.
    pub(crate) visibility_changed: bool,
}

impl Store {
    pub(crate) async fn create_product(&self, new: &NewProduct) -> Result<Product, Error> {
        let mut tx = self.begin().await?;
        self.lock_new_ids(&mut tx, "product_details").await?;
        let category_id = existing_category(&mut tx, new.category_id).await?;
        let id: i64 = sqlx::query_scalar(
            "insert into product_details (id, sku, name, description, category_id)
             select coalesce(max(id), 0) + 1, $1, $2, $3, $4 from product_details returning id",
        )
        .bind(new.sku.as_str())
        .bind(new.name.as_str())
        .bind(new.description.as_str())
        .bind(category_id)
        .fetch_one(&mut *tx)
        .await
        .map_err(|error| taken(error, "A product", new.sku.as_str()))?;
        let row: ProductRow = sqlx::query_as(&format!("{PRODUCT} where d.id = $1"))
            .bind(id)
            .fetch_one(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(product(row))
    }

    pub(crate) async fn create_category(&self, new: &NewCategory) -> Result<Category, Error> {
        let mut tx = self.begin().await?;
        self.lock_new_ids(&mut tx, "category").await?;
        let row: (i64, String) = sqlx::query_as(
            "insert into category (id, name) select coalesce(max(id), 0) + 1, $1 from category returning id, name",
        )
        .bind(new.name.as_str())
        .fetch_one(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(category(row))
    }

    /// The price may come before the product: the tables are joined by sku when they are read.
    pub(crate) async fn create_price(&self, new: &NewPrice) -> Result<Price, Error> {
        let mut tx = self.begin().await?;
        self.lock_new_ids(&mut tx, "product_price").await?;
        let id: i64 = sqlx::query_scalar(
            "insert into product_price (id, sku, price)
             select coalesce(max(id), 0) + 1, $1, cast($2 as bigint) / 100.0 from product_price returning id",
        )
        .bind(new.sku.as_str())
        .bind(new.price.get())
        .fetch_one(&mut *tx)
        .await
        .map_err(|error| taken(error, "A price", new.sku.as_str()))?;
        tx.commit().await?;
        Ok(Price {
            id,
            sku: new.sku.as_str().to_owned(),
            price: new.price,
        })
    }

    /// The stock may come before the product, too.
    pub(crate) async fn create_inventory(&self, new: &NewInventory) -> Result<Inventory, Error> {
        let mut tx = self.begin().await?;
        self.lock_new_ids(&mut tx, "product_inventory").await?;
        let row: (i64, String, i32) = sqlx::query_as(
            "insert into product_inventory (id, sku, stock_units)
             select coalesce(max(id), 0) + 1, $1, $2 from product_inventory returning id, sku, stock_units",
        )
        .bind(new.sku.as_str())
        .bind(new.stock_units.get())
        .fetch_one(&mut *tx)
        .await
        .map_err(|error| taken(error, "An inventory", new.sku.as_str()))?;
        tx.commit().await?;
        Ok(inventory(row))
    }

    pub(crate) async fn update_product(
        &self,
        id: i64,
        change: &ProductChange,
    ) -> Result<(), Error> {
        let mut tx = self.begin().await?;
        let changed = sqlx::query(
            "update product_details
             set name = coalesce($2, name), description = coalesce($3, description)
             where id = $1",
        )
        .bind(id)
        .bind(change.name.as_ref().map(|name| name.as_str()))
        .bind(
            change
                .description
                .as_ref()
                .map(|description| description.as_str()),
        )
        .execute(&mut *tx)
        .await?;
        if changed.rows_affected() == 0 {
            return Err(Error::ProductNotFound);
        }
        if let Some(category_id) = change.category_id {
            let category_id = existing_category(&mut tx, category_id).await?;
            sqlx::query("update product_details set category_id = $2 where id = $1")
                .bind(id)
                .bind(category_id)
                .execute(&mut *tx)
                .await?;
        }
        Ok(tx.commit().await?)
    }

    pub(crate) async fn update_price(&self, id: i64, price: Cents) -> Result<(), Error> {
        let mut tx = self.begin().await?;
        let changed = sqlx::query(
            "update product_price set price = cast($2 as bigint) / 100.0 where id = $1",
        )
        .bind(id)
        .bind(price.get())
        .execute(&mut *tx)
        .await?;
        if changed.rows_affected() == 0 {
            return Err(Error::PriceNotFound);
        }
        Ok(tx.commit().await?)
    }

    pub(crate) async fn update_stock(&self, id: i64, stock_units: i32) -> Result<Restocked, Error> {
        let mut tx = self.begin().await?;
        // An update that changes nothing locks the row in either database, and returns what is in it.
        let before: Option<(String, i32)> = sqlx::query_as(
            "update product_inventory set stock_units = stock_units where id = $1 returning sku, stock_units",
        )
        .bind(id)
        .fetch_optional(&mut *tx)
        .await?;
        let (sku, before) = before.ok_or(Error::InventoryNotFound)?;
        sqlx::query("update product_inventory set stock_units = $2 where id = $1")
            .bind(id)
            .bind(stock_units)
            .execute(&mut *tx)
            .await?;
        let priced: i64 = sqlx::query_scalar(
            "select count(*) from product_details d join product_price p on p.sku = d.sku where d.sku = $1",
        )
        .bind(&sku)
        .fetch_one(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(Restocked {
            visibility_changed: priced > 0 && (before > 0) != (stock_units > 0),
        })
    }
}

async fn existing_category(tx: &mut Transaction<'static, Any>, id: i64) -> Result<i64, Error> {
    let found: Option<i64> = sqlx::query_scalar("select id from category where id = $1")
        .bind(id)
        .fetch_optional(&mut **tx)
        .await?;
    found.ok_or(Error::UnknownCategory)
}

/// The error of an insert: a second row for one sku is the caller's mistake, anything else the database's failure.
fn taken(error: sqlx::Error, what: &'static str, sku: &str) -> Error {
    match error.as_database_error() {
        Some(cause) if cause.is_unique_violation() => Error::AlreadyExists {
            what,
            sku: sku.to_owned(),
        },
        _ => error.into(),
    }
}
