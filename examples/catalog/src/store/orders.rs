//! Orders.

use sqlx::{Any, Transaction};

use super::{Store, catalog::amount};
use crate::{
    error::Error,
    model::{Items, NewOrder, Order, OrderItem},
    money::Cents,
};

/// A confirmed order and what it means for the shop.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) order: Order,
    /// It took the last unit of something.
    pub(crate) sold_out: bool,
}

const ORDER: &str = "
    select o.id, o.status, cast(round(o.payment_amount * 100) as bigint), i.id, i.sku, i.quantity
    from customer_order o left join customer_order_item i on i.customer_order_id = o.id";

type OrderRow = (i64, String, i64, Option<i64>, Option<String>, Option<i32>);

impl Store {
    pub(crate) async fn orders(&self) -> Result<Vec<Order>, Error> {
        let sql = format!("{ORDER} order by o.id, i.id");
        group(sqlx::query_as(&sql).fetch_all(self.read()).await?)
    }

    pub(crate) async fn order(&self, id: i64) -> Result<Option<Order>, Error> {
        let sql = format!("{ORDER} where o.id = $1 order by i.id");
        Ok(group(sqlx::query_as(&sql).bind(id).fetch_all(self.read()).await?)?.pop())
    }

    /// Checks the payment, takes the stock and writes the order, all or nothing.
    pub(crate) async fn place_order(&self, new: &NewOrder) -> Result<Placed, Error> {
        let mut tx = self.begin().await?;
        let total = total(&mut tx, &new.items).await?;
        let payment_amount = match (total, new.payment_amount) {
            (Some(total), Some(paid)) if total == paid => paid,
            _ => return Err(Error::WrongPayment),
        };
        let sold_out = take_stock(&mut tx, &new.items).await?;

        self.lock_new_ids(&mut tx, "customer_order").await?;
        let (id, status): (i64, String) = sqlx::query_as(
            "insert into customer_order (id, status, payment_amount)
             select coalesce(max(id), 0) + 1, 'CONFIRMED', cast($1 as bigint) / 100.0 from customer_order
             returning id, status",
        )
        .bind(payment_amount.get())
        .fetch_one(&mut *tx)
        .await?;
        let mut items = Vec::new();
        for (sku, quantity) in new.items.iter() {
            let (id, sku, quantity): (i64, String, i32) = sqlx::query_as(
                "insert into customer_order_item (id, customer_order_id, sku, quantity)
                 select coalesce(max(id), 0) + 1, $1, $2, $3 from customer_order_item
                 returning id, sku, quantity",
            )
            .bind(id)
            .bind(sku)
            .bind(quantity)
            .fetch_one(&mut *tx)
            .await?;
            items.push(OrderItem { id, sku, quantity });
        }
        tx.commit().await?;
        Ok(Placed {
            order: Order {
                id,
                status,
                payment_amount,
                items,
            },
            sold_out,
        })
    }
}

/// What the items cost today; `None` if that is more than an amount can be.
async fn total(tx: &mut Transaction<'static, Any>, items: &Items) -> Result<Option<Cents>, Error> {
    let mut total = Some(Cents::ZERO);
    for (sku, quantity) in items.iter() {
        let price: Option<(Option<i64>,)> = sqlx::query_as(
            "select cast(round(p.price * 100) as bigint)
             from product_details d left join product_price p on p.sku = d.sku where d.sku = $1",
        )
        .bind(sku)
        .fetch_optional(&mut **tx)
        .await?;
        let (price,) = price.ok_or_else(|| Error::UnknownSku(sku.to_owned()))?;
        let price = amount(price.ok_or_else(|| Error::NotForSale(sku.to_owned()))?)?;
        total = total.and_then(|total| total.checked_add(price, quantity));
    }
    Ok(total)
}

/// Takes the units, or fails at the first item there is not enough of. Returns whether anything reached zero.
async fn take_stock(tx: &mut Transaction<'static, Any>, items: &Items) -> Result<bool, Error> {
    // Always in the order of the skus: two orders for the same products then wait for each other, and never both ways.
    let mut items: Vec<_> = items.iter().collect();
    items.sort_unstable();
    let mut sold_out = false;
    for (sku, quantity) in items {
        let left: Option<i32> = sqlx::query_scalar(
            "update product_inventory set stock_units = stock_units - $2
             where sku = $1 and stock_units >= $2 returning stock_units",
        )
        .bind(sku)
        .bind(quantity)
        .fetch_optional(&mut **tx)
        .await?;
        match left {
            None => return Err(Error::NotEnough(sku.to_owned())),
            Some(left) => sold_out |= left == 0,
        }
    }
    Ok(sold_out)
}

/// Rows of [`ORDER`], those of one order together.
fn group(rows: Vec<OrderRow>) -> Result<Vec<Order>, Error> {
    let mut orders: Vec<Order> = Vec::new();
    for (id, status, cents, item_id, sku, quantity) in rows {
        if orders.last().is_none_or(|last| last.id != id) {
            orders.push(Order {
                id,
                status,
                payment_amount: amount(cents)?,
                items: Vec::new(),
            });
        }
        if let (Some(order), Some(id), Some(sku), Some(quantity)) =
            (orders.last_mut(), item_id, sku, quantity)
        {
            order.items.push(OrderItem { id, sku, quantity });
        }
    }
    Ok(orders)
}
