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
    let plain = lines(
        Kind::Result,
        r#"cache = "product", ttl = "30s""#,
        "async fn product(#[cache_key] id: u64, trace: &Trace) -> Result<Option<Product>, Error> { load(id).await }",
    );
    assert!(plain <= 60, "{plain}");
}
