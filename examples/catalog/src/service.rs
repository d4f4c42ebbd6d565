//! What the shop can do. Every rule about caching stands here, on the function that it is about, and nowhere else.

use std::sync::Arc;

use cache_core::{cache_invalidate, cache_invalidate_all, cache_result};

use crate::{
    error::Error,
    model::{
        Category, Inventory, NewCategory, NewInventory, NewOrder, NewPrice, NewProduct, Order,
        Price, Product, ProductChange, StoreCategory,
    },
    money::Cents,
    store::{Placed, Restocked, Store},
};

/// The shop's functions over its tables.
pub(crate) struct Shop {
    store: Store,
}

impl Shop {
    pub(crate) const fn new(store: Store) -> Self {
        Self { store }
    }

    pub(crate) const fn store(&self) -> &Store {
        &self.store
    }

    // ---- the shop window: four tables joined, read by everybody ------------------------------------------------------

    #[cache_result(cache = "store-products-catalog", ttl = "1m")]
    pub(crate) async fn store_products(&self) -> Result<Arc<Vec<StoreCategory>>, Error> {
        self.store.store_products().await.map(Arc::new)
    }

    #[cache_result(cache = "store-products-catalog-category", ttl = "1m")]
    pub(crate) async fn store_category(
        &self,
        #[cache_key] id: i64,
    ) -> Result<Arc<Vec<StoreCategory>>, Error> {
        self.store.store_category(id).await.map(Arc::new)
    }

    // ---- products ----------------------------------------------------------------------------------------------------

    pub(crate) async fn products(&self) -> Result<Vec<Product>, Error> {
        self.store.products().await
    }

    /// A `None` is remembered, too.
    #[cache_result(cache = "product")]
    pub(crate) async fn product(&self, id: i64) -> Result<Option<Product>, Error> {
        self.store.product(id).await
    }

    /// Somebody may have asked for this id before it was given: forgets that it was not found.
    #[cache_invalidate(cache = "product", key_with = |product: &Product| product.id)]
    pub(crate) async fn create_product(&self, new: &NewProduct) -> Result<Product, Error> {
        self.store.create_product(new).await
    }

    /// The two catalogs keep the old name for up to a minute: a name is not worth rebuilding them.
    #[cache_invalidate(cache = "product")]
    pub(crate) async fn update_product(
        &self,
        #[cache_key] id: i64,
        change: &ProductChange,
    ) -> Result<(), Error> {
        self.store.update_product(id, change).await
    }

    // ---- categories, prices, stock -----------------------------------------------------------------------------------

    pub(crate) async fn categories(&self) -> Result<Vec<Category>, Error> {
        self.store.categories().await
    }

    pub(crate) async fn category(&self, id: i64) -> Result<Option<Category>, Error> {
        self.store.category(id).await
    }

    pub(crate) async fn create_category(&self, new: &NewCategory) -> Result<Category, Error> {
        self.store.create_category(new).await
    }

    pub(crate) async fn prices(&self) -> Result<Vec<Price>, Error> {
        self.store.prices().await
    }

    pub(crate) async fn price(&self, id: i64) -> Result<Option<Price>, Error> {
        self.store.price(id).await
    }

    pub(crate) async fn create_price(&self, new: &NewPrice) -> Result<Price, Error> {
        self.store.create_price(new).await
    }

    /// Nobody may meet an old price at checkout.
    #[cache_invalidate_all(cache = "store-products-catalog")]
    #[cache_invalidate_all(cache = "store-products-catalog-category")]
    pub(crate) async fn update_price(&self, id: i64, price: Cents) -> Result<(), Error> {
        self.store.update_price(id, price).await
    }

    pub(crate) async fn inventories(&self) -> Result<Vec<Inventory>, Error> {
        self.store.inventories().await
    }

    pub(crate) async fn inventory(&self, id: i64) -> Result<Option<Inventory>, Error> {
        self.store.inventory(id).await
    }

    pub(crate) async fn create_inventory(&self, new: &NewInventory) -> Result<Inventory, Error> {
        self.store.create_inventory(new).await
    }

    /// The catalogs show what can be bought, not how much of it.
    #[cache_invalidate_all(cache = "store-products-catalog", invalidate_if = |done: &Restocked| done.visibility_changed)]
    #[cache_invalidate_all(cache = "store-products-catalog-category", invalidate_if = |done: &Restocked| done.visibility_changed)]
    pub(crate) async fn update_stock(&self, id: i64, stock_units: i32) -> Result<Restocked, Error> {
        self.store.update_stock(id, stock_units).await
    }

    // ---- orders ------------------------------------------------------------------------------------------------------

    pub(crate) async fn orders(&self) -> Result<Vec<Order>, Error> {
        self.store.orders().await
    }

    pub(crate) async fn order(&self, id: i64) -> Result<Option<Order>, Error> {
        self.store.order(id).await
    }

    /// A catalog that sells ten units need not be rebuilt ten times: only the last one is news.
    #[cache_invalidate_all(cache = "store-products-catalog", invalidate_if = |placed: &Placed| placed.sold_out)]
    #[cache_invalidate_all(cache = "store-products-catalog-category", invalidate_if = |placed: &Placed| placed.sold_out)]
    pub(crate) async fn place_order(&self, new: &NewOrder) -> Result<Placed, Error> {
        self.store.place_order(new).await
    }
}
