//! Reading categories, products, prices and stock.

use std::collections::BTreeMap;

use super::Store;
use crate::{
    error::Error,
    model::{Category, Inventory, Price, Product, StoreCategory, StoreProduct},
    money::Cents,
};

/// Every category, joined with its products that have a price and stock.
const STORE: &str = "
    select c.id, c.name, v.id, v.sku, v.name, v.cents, v.description
    from category c left join (
        select d.id, d.sku, d.name, d.description, d.category_id, cast(round(p.price * 100) as bigint) as cents
        from product_details d
        join product_price p on p.sku = d.sku
        join product_inventory i on i.sku = d.sku
        where i.stock_units > 0
    ) v on v.category_id = c.id";

pub(super) const PRODUCT: &str = "
    select d.id, d.sku, d.name, d.description, c.id, c.name
    from product_details d join category c on c.id = d.category_id";

const CATEGORY: &str = "select id, name from category";

const PRICE: &str = "select id, sku, cast(round(price * 100) as bigint) from product_price";

const INVENTORY: &str = "select id, sku, stock_units from product_inventory";

type StoreRow = (
    i64,
    String,
    Option<i64>,
    Option<String>,
    Option<String>,
    Option<i64>,
    Option<String>,
);
pub(super) type ProductRow = (i64, String, String, String, i64, String);

impl Store {
    pub(crate) async fn store_products(&self) -> Result<Vec<StoreCategory>, Error> {
        store_categories(sqlx::query_as(STORE).fetch_all(self.read()).await?)
    }

    /// One category, or none if there is no such category.
    pub(crate) async fn store_category(&self, id: i64) -> Result<Vec<StoreCategory>, Error> {
        let sql = format!("{STORE} where c.id = $1");
        store_categories(sqlx::query_as(&sql).bind(id).fetch_all(self.read()).await?)
    }

    pub(crate) async fn products(&self) -> Result<Vec<Product>, Error> {
        let sql = format!("{PRODUCT} order by d.id");
        let rows: Vec<ProductRow> = sqlx::query_as(&sql).fetch_all(self.read()).await?;
        Ok(rows.into_iter().map(product).collect())
    }

    pub(crate) async fn product(&self, id: i64) -> Result<Option<Product>, Error> {
        let sql = format!("{PRODUCT} where d.id = $1");
        let row: Option<ProductRow> = sqlx::query_as(&sql)
            .bind(id)
            .fetch_optional(self.read())
            .await?;
        Ok(row.map(product))
    }

    pub(crate) async fn categories(&self) -> Result<Vec<Category>, Error> {
        let sql = format!("{CATEGORY} order by id");
        let rows: Vec<(i64, String)> = sqlx::query_as(&sql).fetch_all(self.read()).await?;
        Ok(rows.into_iter().map(category).collect())
    }

    pub(crate) async fn category(&self, id: i64) -> Result<Option<Category>, Error> {
        let sql = format!("{CATEGORY} where id = $1");
        let row: Option<(i64, String)> = sqlx::query_as(&sql)
            .bind(id)
            .fetch_optional(self.read())
            .await?;
        Ok(row.map(category))
    }

    pub(crate) async fn prices(&self) -> Result<Vec<Price>, Error> {
        let sql = format!("{PRICE} order by id");
        let rows: Vec<(i64, String, i64)> = sqlx::query_as(&sql).fetch_all(self.read()).await?;
        rows.into_iter().map(price).collect()
    }

    pub(crate) async fn price(&self, id: i64) -> Result<Option<Price>, Error> {
        let sql = format!("{PRICE} where id = $1");
        let row: Option<(i64, String, i64)> = sqlx::query_as(&sql)
            .bind(id)
            .fetch_optional(self.read())
            .await?;
        row.map(price).transpose()
    }

    pub(crate) async fn inventories(&self) -> Result<Vec<Inventory>, Error> {
        let sql = format!("{INVENTORY} order by id");
        let rows: Vec<(i64, String, i32)> = sqlx::query_as(&sql).fetch_all(self.read()).await?;
        Ok(rows.into_iter().map(inventory).collect())
    }

    pub(crate) async fn inventory(&self, id: i64) -> Result<Option<Inventory>, Error> {
        let sql = format!("{INVENTORY} where id = $1");
        let row: Option<(i64, String, i32)> = sqlx::query_as(&sql)
            .bind(id)
            .fetch_optional(self.read())
            .await?;
        Ok(row.map(inventory))
    }
}

/// Groups the rows of [`STORE`]. Sorted here and not by the database: the order of names would hang on its collation.
fn store_categories(rows: Vec<StoreRow>) -> Result<Vec<StoreCategory>, Error> {
    let mut categories = BTreeMap::new();
    for (category_id, category_name, id, sku, name, cents, description) in rows {
        let category = categories
            .entry(category_id)
            .or_insert_with(|| StoreCategory {
                id: category_id,
                name: category_name,
                products: Vec::new(),
            });
        if let (Some(id), Some(sku), Some(name), Some(cents), Some(description)) =
            (id, sku, name, cents, description)
        {
            let price = amount(cents)?;
            category.products.push(StoreProduct {
                id,
                sku,
                name,
                price,
                description,
                category_id,
            });
        }
    }
    let mut categories: Vec<StoreCategory> = categories.into_values().collect();
    categories.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
    for category in &mut categories {
        category
            .products
            .sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
    }
    Ok(categories)
}

/// An amount as the statements read it, in cents. A column can hold more than an amount can be.
pub(super) fn amount(cents: i64) -> Result<Cents, Error> {
    Cents::new(cents).map_err(|error| Error::from(sqlx::Error::Decode(error.into())))
}

pub(super) fn product(
    (id, sku, name, description, category_id, category_name): ProductRow,
) -> Product {
    Product {
        id,
        sku,
        name,
        description,
        category: Category {
            id: category_id,
            name: category_name,
        },
    }
}

pub(super) fn category((id, name): (i64, String)) -> Category {
    Category { id, name }
}

fn price((id, sku, cents): (i64, String, i64)) -> Result<Price, Error> {
    Ok(Price {
        id,
        sku,
        price: amount(cents)?,
    })
}

pub(super) fn inventory((id, sku, stock_units): (i64, String, i32)) -> Inventory {
    Inventory {
        id,
        sku,
        stock_units,
    }
}
