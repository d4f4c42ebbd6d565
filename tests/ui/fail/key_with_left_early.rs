use cache_core::cache_put;

#[cache_put(cache = "c", key_with = |name: &String| { if name.is_empty() { return 0; } name.len() })]
async fn f(name: String) -> String {
    name
}

#[cache_put(cache = "c", key_with = |name: &Option<String>| name.as_ref()?.len())]
async fn g(name: String) -> Option<String> {
    Some(name)
}

// What is left here is a closure of their own.
#[cache_put(cache = "c", key_with = |name: &String| name.chars().map(|c| { return c; }).count())]
async fn h(name: String) -> String {
    name
}

fn main() {}
