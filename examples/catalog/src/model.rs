//! What the service answers and what it is asked.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::money::{self, Cents};

// ---- answers ---------------------------------------------------------------------------------------------------------

/// A category with the products of it that can be bought now.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoreCategory {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) products: Vec<StoreProduct>,
}

/// A product as the shop shows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoreProduct {
    pub(crate) id: i64,
    pub(crate) sku: String,
    pub(crate) name: String,
    pub(crate) price: Cents,
    pub(crate) description: String,
    pub(crate) category_id: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Category {
    pub(crate) id: i64,
    pub(crate) name: String,
}

/// The details of a product, whether it is for sale or not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Product {
    pub(crate) id: i64,
    pub(crate) sku: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) category: Category,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Price {
    pub(crate) id: i64,
    pub(crate) sku: String,
    pub(crate) price: Cents,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Inventory {
    pub(crate) id: i64,
    pub(crate) sku: String,
    pub(crate) stock_units: i32,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Order {
    pub(crate) id: i64,
    pub(crate) status: String,
    pub(crate) payment_amount: Cents,
    pub(crate) items: Vec<OrderItem>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct OrderItem {
    pub(crate) id: i64,
    pub(crate) sku: String,
    pub(crate) quantity: i32,
}

// ---- requests --------------------------------------------------------------------------------------------------------
// An unknown field is an error: a misspelt optional one would otherwise be lost without a word.

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewProduct {
    pub(crate) sku: Sku,
    pub(crate) name: Text<1, 255>,
    pub(crate) description: Text<0, 1000>,
    pub(crate) category_id: i64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCategory {
    pub(crate) name: Text<1, 255>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPrice {
    pub(crate) sku: Sku,
    #[serde(deserialize_with = "money::price")]
    pub(crate) price: Cents,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewInventory {
    pub(crate) sku: Sku,
    pub(crate) stock_units: Count<0>,
}

/// New details of a product. What is left out stays as it is; leaving out everything is a mistake.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ProductFields {
    #[serde(default, deserialize_with = "present")]
    name: Option<Text<1, 255>>,
    #[serde(default, deserialize_with = "present")]
    description: Option<Text<0, 1000>>,
    #[serde(default, deserialize_with = "present")]
    category_id: Option<i64>,
}

/// [`ProductFields`] of which at least one is there.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "ProductFields")]
pub(crate) struct ProductChange {
    pub(crate) name: Option<Text<1, 255>>,
    pub(crate) description: Option<Text<0, 1000>>,
    pub(crate) category_id: Option<i64>,
}

impl TryFrom<ProductFields> for ProductChange {
    type Error = &'static str;

    fn try_from(fields: ProductFields) -> Result<Self, Self::Error> {
        let ProductFields {
            name,
            description,
            category_id,
        } = fields;
        if name.is_none() && description.is_none() && category_id.is_none() {
            return Err("nothing to change: give name, description or categoryId");
        }
        Ok(Self {
            name,
            description,
            category_id,
        })
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriceChange {
    #[serde(deserialize_with = "money::price")]
    pub(crate) price: Cents,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StockChange {
    pub(crate) stock_units: Count<0>,
}

/// An order. Who buys and where it goes is asked for and checked, but this shop has no table for it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewOrder {
    #[serde(rename = "customerName")]
    _customer_name: Text<1, 255>,
    #[serde(rename = "customerEmail")]
    _customer_email: Text<1, 255>,
    #[serde(rename = "shippingAddress")]
    _shipping_address: Text<1, 1000>,
    /// `None`: a number that no order can cost.
    #[serde(deserialize_with = "money::payment")]
    pub(crate) payment_amount: Option<Cents>,
    pub(crate) items: Items,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewItem {
    sku: Sku,
    quantity: Count<1>,
}

/// What is ordered: at least one item, every sku once, in the order of their first appearance.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<NewItem>")]
pub(crate) struct Items(Vec<(String, i64)>);

impl Items {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0
            .iter()
            .map(|(sku, quantity)| (sku.as_str(), *quantity))
    }
}

impl TryFrom<Vec<NewItem>> for Items {
    type Error = &'static str;

    fn try_from(items: Vec<NewItem>) -> Result<Self, Self::Error> {
        if items.is_empty() {
            return Err("an order has at least one item");
        }
        let mut summed: Vec<(String, i64)> = Vec::with_capacity(items.len());
        for NewItem {
            sku: Sku(sku),
            quantity: Count(quantity),
        } in items
        {
            match summed.iter_mut().find(|(known, _)| *known == sku) {
                // A body is at most 64 KiB: so many 32-bit numbers never overflow 64 bits.
                Some((_, sum)) => *sum += i64::from(quantity),
                None => summed.push((sku, i64::from(quantity))),
            }
        }
        Ok(Self(summed))
    }
}

// ---- parts of requests -----------------------------------------------------------------------------------------------

/// A stock keeping unit: 1 to 8 visible characters.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Sku(String);

impl Sku {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Sku {
    type Error = &'static str;

    fn try_from(sku: String) -> Result<Self, Self::Error> {
        if (1..=8).contains(&sku.len()) && sku.bytes().all(|b| b.is_ascii_graphic()) {
            Ok(Self(sku))
        } else {
            Err("a sku has 1 to 8 letters, digits or signs")
        }
    }
}

/// A text of `MIN` to `MAX` characters, as the columns have room for; not only blanks unless it may be empty.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Text<const MIN: usize, const MAX: usize>(String);

impl<const MIN: usize, const MAX: usize> Text<MIN, MAX> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MIN: usize, const MAX: usize> TryFrom<String> for Text<MIN, MAX> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        // PostgreSQL cannot keep a NUL.
        let fits = (MIN..=MAX).contains(&text.chars().count()) && !text.contains('\0');
        if fits && (MIN == 0 || !text.trim().is_empty()) {
            Ok(Self(text))
        } else {
            Err(format!(
                "a text of {MIN} to {MAX} characters is needed, and not only blanks"
            ))
        }
    }
}

/// A 32-bit number that is at least `MIN`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "i64")]
pub(crate) struct Count<const MIN: i32>(i32);

impl<const MIN: i32> Count<MIN> {
    pub(crate) const fn get(self) -> i32 {
        self.0
    }
}

impl<const MIN: i32> TryFrom<i64> for Count<MIN> {
    type Error = CountOutOfRange<MIN>;

    fn try_from(count: i64) -> Result<Self, Self::Error> {
        match i32::try_from(count) {
            Ok(count) if count >= MIN => Ok(Self(count)),
            _ => Err(CountOutOfRange),
        }
    }
}

#[derive(Debug)]
pub(crate) struct CountOutOfRange<const MIN: i32>;

impl<const MIN: i32> fmt::Display for CountOutOfRange<MIN> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {MIN} to {} is needed", i32::MAX)
    }
}

/// A field that may be left out, but is never `null`.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
