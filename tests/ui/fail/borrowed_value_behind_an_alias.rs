use cache_core::cache_result;

type Text<'a> = &'a str;
type Texts<T> = Result<T, String>;

struct Name<'a>(&'a str);

#[cache_result(cache = "c")]
async fn f(id: &str) -> Name<'_> {
    Name(id)
}

#[cache_result(cache = "c")]
async fn g(id: &str) -> Text {
    id
}

#[cache_result(cache = "c")]
async fn h(id: &str) -> Texts<Text> {
    Ok(id)
}

fn main() {}
