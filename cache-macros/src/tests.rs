use super::*;

/// The lines of what the attributes of a function become, formatted as a user would read them.
fn lines(kind: Kind, args: &str, function: &str) -> usize {
    let expanded = attribute(kind, args.parse().unwrap(), function.parse().unwrap());
    let file = syn_2::parse_file(&expanded.to_string()).unwrap();
    let text = prettyplease::unparse(&file);
    println!("{text}");
    text.lines().count()
}

#[test]
fn the_expansion_of_a_function_is_short() {
    let read = "async fn product(#[cache_key] id: u64, trace: &Trace) -> Result<Option<Product>, Error> { load(id).await }";
    let write = "async fn rename(#[cache_key] id: u64, name: String) -> Result<Product, Error> { store(id, name).await }";
    let several = format!(r#"#[cache_invalidate_all(cache = "products")] {write}"#);
    for (name, kind, args, function, limit) in [
        (
            "cache_result",
            Kind::Result,
            r#"cache = "product", ttl = "30s""#,
            read,
            60,
        ),
        (
            "cache_result",
            Kind::Result,
            r#"cache = "product", store_if = |product: &Option<Product>| product.is_some()"#,
            read,
            60,
        ),
        ("cache_put", Kind::Put, r#"cache = "product""#, write, 60),
        (
            "cache_invalidate",
            Kind::Invalidate,
            r#"cache = "product""#,
            write,
            60,
        ),
        (
            "cache_invalidate_all",
            Kind::InvalidateAll,
            r#"cache = "product""#,
            write,
            60,
        ),
        (
            "two attributes",
            Kind::Invalidate,
            r#"cache = "product""#,
            &several,
            60,
        ),
    ] {
        let lines = lines(kind, args, function);
        println!("{name}: {lines} lines");
        assert!(lines <= limit, "{name}: {lines}");
    }
}
