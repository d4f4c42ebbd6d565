//! The service as others see it: the real binary, spoken to over HTTP.
//!
//! These tests need the packages `postgresql` and `redis-server`.

mod administration;
mod bodies;
mod caching;
mod changing;
mod command_line;
mod creating;
mod databases;
mod orders;
mod pages;
mod postgres;
mod reading;
mod redis_caching;
mod rows;
mod running;

/// Makes two tests of every function: on SQLite in memory and on PostgreSQL, each on a database of its own, uncached.
macro_rules! on_every_database {
    ($($test:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $test() {
                super::$test(&crate::running::Service::start(&["--backend", "none"]));
            })*
        }

        mod postgres {
            $(#[test]
            fn $test() {
                let database = crate::postgres::new_database();
                super::$test(&crate::running::Service::start(&["--backend", "none", "--database", &database]));
            })*
        }
    };
}
pub(crate) use on_every_database;

/// Makes two tests of every function: with the caches in memory and in a Redis of the service's own.
macro_rules! in_memory_and_in_redis {
    ($($test:ident),* $(,)?) => {
        mod memory {
            $(#[test]
            fn $test() {
                super::$test(&crate::running::Service::start(&[]));
            })*
        }

        mod redis {
            $(#[test]
            fn $test() {
                super::$test(&crate::running::Service::start(&["--redis", "dev"]));
            })*
        }
    };
}
pub(crate) use in_memory_and_in_redis;
