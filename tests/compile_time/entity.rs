#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EntityN {
    pub id: u64,
    pub name: String,
    pub description: Option<String>,
    pub price: u64,
    pub tags: Vec<String>,
}

impl EntityN {
    fn from_row(id: u64, row: &Row) -> Result<Self, Error> {
        let tags = row.text("tags")?.split(',').map(str::to_owned).collect();
        Ok(Self {
            id,
            name: row.text("name")?,
            description: row.text("description").ok(),
            price: row.number("price")?,
            tags,
        })
    }
}

#[cache_result(cache = "entity-N", ttl = "30s")]
pub async fn find_N(database: &Database, #[cache_key] id: u64) -> Result<Option<EntityN>, Error> {
    let row = match database.row("SELECT * FROM entity_N WHERE id = ?", id).await {
        Ok(row) => row,
        Err(Error::Missing(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    if row.text("deleted")? == "true" {
        return Ok(None);
    }
    let mut found = EntityN::from_row(id, row)?;
    if found.tags.iter().any(|tag| tag == "discounted") {
        let discount = database.row("SELECT * FROM discounts WHERE entity_N = ?", id).await?;
        found.price -= found.price * discount.number("percent")? / 100;
    }
    Ok(Some(found))
}

#[cache_result(cache = "entities-N")]
pub async fn list_N(
    database: &Database,
    #[cache_key] category: &str,
    #[cache_key] page: u32,
) -> Result<Vec<EntityN>, Error> {
    let offset = page.checked_mul(20).ok_or_else(|| Error::Invalid {
        field: "page",
        why: format!("{page} is beyond the last one"),
    })?;
    let offset = offset.to_string();
    let query = "SELECT * FROM entity_N WHERE category = ? ORDER BY name LIMIT 20 OFFSET ?";
    let mut listed = Vec::new();
    for row in database.rows(query, &[category, &offset]).await? {
        let id = row.number("id")?;
        let item = EntityN::from_row(id, row)?;
        if !item.name.is_empty() {
            listed.push(item);
        }
    }
    listed.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(listed)
}

#[cache_result(cache = "count-N", ttl = "5m")]
pub async fn count_N(database: &Database, #[cache_key] category: &str) -> Result<u64, Error> {
    if category.is_empty() || category.len() > 64 {
        let why = format!("{} characters", category.len());
        return Err(Error::Invalid { field: "category", why });
    }
    let rows = database.rows("SELECT count(*) FROM entity_N WHERE category = ?", &[category]).await?;
    let mut count = 0;
    for row in rows {
        count += row.number("count")?;
    }
    let hidden = database.rows("SELECT id FROM hidden_N WHERE category = ?", &[category]).await?;
    Ok(count.saturating_sub(hidden.len() as u64))
}

#[cache_result(cache = "price-N", store_if = |price: &Option<u64>| price.is_some())]
pub async fn price_N(
    database: &Database,
    #[cache_key] id: u64,
    #[cache_key] currency: &str,
) -> Result<Option<u64>, Error> {
    let row = database.row("SELECT price, currency FROM entity_N WHERE id = ?", id).await?;
    let (price, own) = (row.number("price")?, row.text("currency")?);
    if own == currency {
        return Ok(Some(price));
    }
    let rates = database.rows("SELECT * FROM rates WHERE source = ? AND target = ?", &[&own, currency]).await?;
    let Some(rate) = rates.first() else {
        return Ok(None);
    };
    let (numerator, denominator) = (rate.number("numerator")?, rate.number("denominator")?);
    Ok(price.checked_mul(numerator).and_then(|price| price.checked_div(denominator)))
}

#[cache_result(cache = "related-N")]
pub async fn related_N(database: &Database, #[cache_key] id: u64) -> Result<Vec<EntityN>, Error> {
    let row = database.row("SELECT tags FROM entity_N WHERE id = ?", id).await?;
    let mut related = Vec::<EntityN>::new();
    for tag in row.text("tags")?.split(',').take(5) {
        let query = "SELECT * FROM entity_N WHERE ? = ANY(tags) LIMIT 10";
        for row in database.rows(query, &[tag]).await? {
            let other = row.number("id")?;
            if other != id && related.iter().all(|known| known.id != other) {
                related.push(EntityN::from_row(other, row)?);
            }
        }
    }
    related.truncate(10);
    Ok(related)
}

#[cache_result(cache = "tags-N", ttl = "1h")]
pub async fn tags_N(database: &Database, #[cache_key] language: &str) -> Result<Vec<String>, Error> {
    let rows = database.rows("SELECT tags FROM entity_N WHERE language = ?", &[language]).await?;
    let mut tags = Vec::new();
    for row in rows {
        let text = row.text("tags")?;
        for tag in text.split(',').map(str::trim) {
            if !tag.is_empty() && tags.iter().all(|known| known != tag) {
                tags.push(tag.to_owned());
            }
        }
    }
    tags.sort_unstable();
    Ok(tags)
}

#[cache_put(cache = "entity-N", store_if = |found: &Option<EntityN>| found.is_some())]
pub async fn rename_N(
    database: &Database,
    #[cache_key] id: u64,
    name: String,
) -> Result<Option<EntityN>, Error> {
    if name.trim().is_empty() {
        let why = "it is empty".to_owned();
        return Err(Error::Invalid { field: "name", why });
    }
    let statement = "UPDATE entity_N SET name = ? WHERE id = ?";
    let changed = database.execute(statement, &[&name, &id.to_string()]).await?;
    if changed == 0 {
        return Ok(None);
    }
    let row = database.row("SELECT * FROM entity_N WHERE id = ?", id).await?;
    let renamed = EntityN { name, ..EntityN::from_row(id, row)? };
    Ok(Some(renamed))
}

#[cache_invalidate(cache = "entity-N")]
pub async fn reprice_N(database: &Database, #[cache_key] id: u64, price: u64) -> Result<u64, Error> {
    if price > 100_000_000 {
        let why = format!("{price} is more than anything costs");
        return Err(Error::Invalid { field: "price", why });
    }
    let before = database.row("SELECT price FROM entity_N WHERE id = ?", id).await?.number("price")?;
    let (price, id) = (price.to_string(), id.to_string());
    database.execute("UPDATE entity_N SET price = ? WHERE id = ?", &[&price, &id]).await?;
    let note = format!("price of {id}: {before} to {price}");
    database.execute("INSERT INTO journal VALUES (?)", &[&note]).await?;
    Ok(before)
}

#[cache_invalidate(cache = "entity-N")]
#[cache_invalidate_all(cache = "entities-N")]
pub async fn delete_N(database: &Database, #[cache_key] id: u64, reason: &str) -> Result<bool, Error> {
    let text = id.to_string();
    let orders = database.rows("SELECT id FROM orders WHERE entity_N = ?", &[&text]).await?;
    if !orders.is_empty() {
        let why = format!("it is in {} orders", orders.len());
        return Err(Error::Invalid { field: "id", why });
    }
    let deleted = database.execute("UPDATE entity_N SET deleted = true WHERE id = ?", &[&text]).await?;
    if deleted == 0 {
        return Ok(false);
    }
    database.execute("INSERT INTO journal VALUES (?)", &[reason]).await?;
    Ok(true)
}

#[cache_invalidate_all(cache = "entities-N")]
pub async fn import_N(database: &Database, lines: Vec<String>) -> Result<usize, Error> {
    let mut imported = 0;
    for line in lines {
        let Some((name, price)) = line.split_once(';') else {
            let why = format!("line {imported} has no price");
            return Err(Error::Invalid { field: "lines", why });
        };
        if price.parse::<u64>().is_err() {
            continue;
        }
        database.execute("INSERT INTO entity_N VALUES (?, ?)", &[name, price]).await?;
        imported += 1;
    }
    Ok(imported)
}

pub fn all_N<'a>(database: &'a Database, name: &'a str) -> [Call<'a>; 10] {
    [
        Box::pin(async move { drop(find_N(database, 7).await) }),
        Box::pin(async move { drop(list_N(database, name, 3).await) }),
        Box::pin(async move { drop(count_N(database, name).await) }),
        Box::pin(async move { drop(price_N(database, 7, name).await) }),
        Box::pin(async move { drop(related_N(database, 7).await) }),
        Box::pin(async move { drop(tags_N(database, name).await) }),
        Box::pin(async move { drop(rename_N(database, 7, name.to_owned()).await) }),
        Box::pin(async move { drop(reprice_N(database, 7, 2990).await) }),
        Box::pin(async move { drop(delete_N(database, 7, name).await) }),
        Box::pin(async move { drop(import_N(database, vec![name.to_owned()]).await) }),
    ]
}
