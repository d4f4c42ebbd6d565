//! The paths of the service.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, State},
    http::StatusCode,
    middleware::from_fn,
    routing::{get, post},
};
use cache_core::CacheManager;

use crate::{
    admin::{self, Admin},
    error::Error,
    extract::{Body, Id},
    model::{
        Category, Inventory, NewCategory, NewInventory, NewOrder, NewPrice, NewProduct, Order,
        Price, PriceChange, Product, ProductChange, StockChange, StoreCategory,
    },
    observe::x_cache,
    pages,
    service::Shop,
};

/// What every handler can reach.
pub(crate) struct App {
    pub(crate) shop: Shop,
    pub(crate) caches: CacheManager,
    pub(crate) admin: Admin,
    /// A catalog that never changes: without any cache, the most that a cache could give.
    pub(crate) constant: Option<Arc<Vec<StoreCategory>>>,
}

type Shared = State<Arc<App>>;
type Created<T> = Result<(StatusCode, Json<T>), Error>;

/// An order of a thousand items has room.
const MAX_BODY_BYTES: usize = 64 * 1024;

pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route(
            "/store-products",
            get(store_products).layer(from_fn(x_cache)),
        )
        .route(
            "/store-products/category/{id}",
            get(store_category).layer(from_fn(x_cache)),
        )
        .route("/products", get(products).post(create_product))
        .route(
            "/products/{id}",
            get(product).layer(from_fn(x_cache)).patch(update_product),
        )
        .route("/products-category", get(categories).post(create_category))
        .route("/products-category/{id}", get(category))
        .route("/products-prices", get(prices).post(create_price))
        .route("/products-prices/{id}", get(price).patch(update_price))
        .route(
            "/products-inventory",
            get(inventories).post(create_inventory),
        )
        .route(
            "/products-inventory/{id}",
            get(inventory).patch(update_stock),
        )
        .route("/orders", get(orders).post(place_order))
        .route("/orders/{id}", get(order))
        .route("/healthz", get(admin::healthz))
        .route("/cache-stats", get(admin::cache_stats))
        .route("/cache/{name}/clear", post(admin::clear_cache))
        .merge(pages::router())
        .fallback(async || Error::RouteNotFound)
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(app)
}

async fn store_products(State(app): Shared) -> Result<Json<Arc<Vec<StoreCategory>>>, Error> {
    match &app.constant {
        Some(constant) => Ok(Json(constant.clone())),
        None => app.shop.store_products().await.map(Json),
    }
}

async fn store_category(
    State(app): Shared,
    id: Id,
) -> Result<Json<Arc<Vec<StoreCategory>>>, Error> {
    let id = id.or(Error::CategoryNotFound)?;
    app.shop.store_category(id).await.map(Json)
}

async fn products(State(app): Shared) -> Result<Json<Vec<Product>>, Error> {
    app.shop.products().await.map(Json)
}

async fn product(State(app): Shared, id: Id) -> Result<Json<Product>, Error> {
    let id = id.or(Error::ProductNotFound)?;
    app.shop
        .product(id)
        .await?
        .map(Json)
        .ok_or(Error::ProductNotFound)
}

async fn create_product(State(app): Shared, Body(new): Body<NewProduct>) -> Created<Product> {
    let product = app.shop.create_product(&new).await?;
    Ok((StatusCode::CREATED, Json(product)))
}

async fn update_product(
    State(app): Shared,
    id: Id,
    Body(change): Body<ProductChange>,
) -> Result<StatusCode, Error> {
    let id = id.or(Error::ProductNotFound)?;
    app.shop.update_product(id, &change).await?;
    Ok(StatusCode::ACCEPTED)
}

async fn categories(State(app): Shared) -> Result<Json<Vec<Category>>, Error> {
    app.shop.categories().await.map(Json)
}

async fn category(State(app): Shared, id: Id) -> Result<Json<Category>, Error> {
    let id = id.or(Error::CategoryNotFound)?;
    app.shop
        .category(id)
        .await?
        .map(Json)
        .ok_or(Error::CategoryNotFound)
}

async fn create_category(State(app): Shared, Body(new): Body<NewCategory>) -> Created<Category> {
    let category = app.shop.create_category(&new).await?;
    Ok((StatusCode::CREATED, Json(category)))
}

async fn prices(State(app): Shared) -> Result<Json<Vec<Price>>, Error> {
    app.shop.prices().await.map(Json)
}

async fn price(State(app): Shared, id: Id) -> Result<Json<Price>, Error> {
    let id = id.or(Error::PriceNotFound)?;
    app.shop
        .price(id)
        .await?
        .map(Json)
        .ok_or(Error::PriceNotFound)
}

async fn create_price(State(app): Shared, Body(new): Body<NewPrice>) -> Created<Price> {
    let price = app.shop.create_price(&new).await?;
    Ok((StatusCode::CREATED, Json(price)))
}

async fn update_price(
    State(app): Shared,
    id: Id,
    Body(change): Body<PriceChange>,
) -> Result<StatusCode, Error> {
    let id = id.or(Error::PriceNotFound)?;
    app.shop.update_price(id, change.price).await?;
    Ok(StatusCode::ACCEPTED)
}

async fn inventories(State(app): Shared) -> Result<Json<Vec<Inventory>>, Error> {
    app.shop.inventories().await.map(Json)
}

async fn inventory(State(app): Shared, id: Id) -> Result<Json<Inventory>, Error> {
    let id = id.or(Error::InventoryNotFound)?;
    app.shop
        .inventory(id)
        .await?
        .map(Json)
        .ok_or(Error::InventoryNotFound)
}

async fn create_inventory(State(app): Shared, Body(new): Body<NewInventory>) -> Created<Inventory> {
    let inventory = app.shop.create_inventory(&new).await?;
    Ok((StatusCode::CREATED, Json(inventory)))
}

async fn update_stock(
    State(app): Shared,
    id: Id,
    Body(change): Body<StockChange>,
) -> Result<StatusCode, Error> {
    let id = id.or(Error::InventoryNotFound)?;
    app.shop.update_stock(id, change.stock_units.get()).await?;
    Ok(StatusCode::ACCEPTED)
}

async fn orders(State(app): Shared) -> Result<Json<Vec<Order>>, Error> {
    app.shop.orders().await.map(Json)
}

async fn order(State(app): Shared, id: Id) -> Result<Json<Order>, Error> {
    let id = id.or(Error::OrderNotFound)?;
    app.shop
        .order(id)
        .await?
        .map(Json)
        .ok_or(Error::OrderNotFound)
}

async fn place_order(State(app): Shared, Body(new): Body<NewOrder>) -> Created<Order> {
    let placed = app.shop.place_order(&new).await?;
    Ok((StatusCode::CREATED, Json(placed.order)))
}
