use cache_core::cache_result;

type Text<'a> = &'a str;

struct Name<'a>(&'a str);

#[cache_result(cache = "c")]
async fn f(id: &str) -> Name<'_> {
    Name(id)
}

#[cache_result(cache = "c")]
async fn g(id: &str) -> Text {
    id
}

fn main() {}
