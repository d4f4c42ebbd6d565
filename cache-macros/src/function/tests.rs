use super::*;

fn form(text: &str) -> Option<String> {
    match syn::parse_str::<Function>(text).unwrap().form()? {
        Form::Async { body } => Some(format!("async {{ {} }}", body.statements)),
        Form::Boxed { before, pin, body } => {
            Some(format!("{before} {pin} {{ {} }}", body.statements).replace(' ', ""))
        }
    }
}

#[test]
fn async_functions_and_boxed_futures_are_told_from_others() {
    let boxed = "-> Pin<Box<dyn Future<Output = u8> + Send>>";
    assert_eq!(
        form("async fn f() { g().await }").as_deref(),
        Some("async { g () . await }")
    );
    for call in [
        "Box::pin(async move { 1 })",
        "::std::boxed::Box::pin(async { 1 },)",
    ] {
        let pin = &call[..call.find('(').unwrap()];
        assert_eq!(
            form(&format!("fn f() {boxed} {{ {call} }}")),
            Some(format!("{pin}{{1}}"))
        );
    }
    for (body, found) in [
        (
            "let x = 1; Box::pin(async move { x })",
            "letx=1;Box::pin{x}",
        ),
        (
            "if y { z() } ::std::boxed::Box::pin(async { 1 })",
            "ify{z()}::std::boxed::Box::pin{1}",
        ),
        ("g(); return Box::pin(async move { 1 });", "g();Box::pin{1}"),
        ("return Pin::pin(async { 1 });", "Pin::pin{1}"),
    ] {
        let found = Some(found.to_owned());
        assert_eq!(
            form(&format!("fn f() {boxed} {{ {body} }}")),
            found,
            "{body}"
        );
        let alias = format!("fn f() -> BoxFuture<'_, u8> {{ {body} }}");
        assert_eq!(form(&alias), found, "{body}");
    }
    for body in [
        "",
        "Box::pin(async move { 1 });",
        "x + Box::pin(async move { 1 })",
        "break Box::pin(async move { 1 });",
        "Box::pin(g())",
        "Box::new(async move { 1 })",
        "h(1)",
    ] {
        assert_eq!(
            form(&format!("fn f() {boxed} {{ {body} }}")),
            None,
            "{body}"
        );
    }
    assert_eq!(form("fn f() -> &u8 { Box::pin(async move { 1 }) }"), None);
    assert_eq!(form("async fn f();"), None);
}

#[test]
fn bodies_need_not_be_understood() {
    assert!(form("async fn f() { let x = ; @ 5 + }").is_some());
}

#[test]
fn the_output_is_what_awaiting_gives() {
    for (text, output) in [
        ("async fn f() -> u8 {}", Some("u8")),
        (
            "fn f() -> ::core::pin::Pin<Box<dyn ::core::future::Future<Output = u8> + Send + 'x>> {}",
            Some("u8"),
        ),
        ("async fn f() {}", None),
        (
            "fn f() -> Fut<'_> { Box::pin(async { 1 }) }",
            Some("< Fut < '_ > as :: core :: future :: Future > :: Output"),
        ),
        ("fn f() -> Fut<'_> { g() }", Some("Fut < '_ >")),
    ] {
        let function: Function = syn::parse_str(text).unwrap();
        let found = function.output().map(|ty| ty.to_token_stream().to_string());
        assert_eq!(found.as_deref(), output, "{text}");
    }
}

#[test]
fn marked_parameters_make_up_the_key_else_all() {
    for (text, key) in [
        (
            "async fn f(&self, a: u8, (b, c): (u8, u8), _: u8, _d: u8) {}",
            vec![Some("a"), None, None, None],
        ),
        (
            "async fn f(a: u8, #[cache_key] mut b: u8, #[x::cache_key(hash)] r#c: u8) {}",
            vec![Some("b"), Some("r#c")],
        ),
        ("async fn f(&self) {}", vec![]),
    ] {
        let mut function: Function = syn::parse_str(text).unwrap();
        let mut errors = Errors::default();
        let params = function.take_params(&mut errors);
        let names: Vec<_> = key_params(&params)
            .map(|param| param.name().map(ToString::to_string))
            .collect();
        assert_eq!(
            names.iter().map(Option::as_deref).collect::<Vec<_>>(),
            key,
            "{text}"
        );
        assert!(
            errors.is_empty() && !function.to_token_stream().to_string().contains("cache_key"),
            "{text}"
        );
    }
}

#[test]
fn every_outcome_of_a_condition_is_a_version() {
    let function = syn::parse_str::<Function>(
        "#[inline] #[cfg_attr(a, cache_invalidate(cache = \"x\"), doc = \"y\")] #[cfg_attr(b, doc = \"z\")] \
         async fn f(#[cfg(a)] id: u8, #[cfg_attr(not(c), cache_key)] other: u8, #[cfg_attr(b, allow(unused))] x: u8) {}",
    );
    let found: Vec<_> = versions::versions(function.unwrap())
        .iter()
        .map(|version| version.to_token_stream().to_string().replace(' ', ""))
        .collect();
    let rest = "#[cfg_attr(b,allow(unused))]x:u8){}";
    assert_eq!(
        found,
        [
            format!(
                "#[cfg(not(c))]#[cfg(a)]#[inline]#[cache_invalidate(cache=\"x\")]#[doc=\"y\"]#[cfg_attr(b,doc=\"z\")]asyncfnf(id:u8,#[cache_key]other:u8,{rest}"
            ),
            format!(
                "#[cfg(not(not(c)))]#[cfg(a)]#[inline]#[cache_invalidate(cache=\"x\")]#[doc=\"y\"]#[cfg_attr(b,doc=\"z\")]asyncfnf(id:u8,other:u8,{rest}"
            ),
            format!(
                "#[cfg(not(c))]#[cfg(not(a))]#[inline]#[cfg_attr(b,doc=\"z\")]asyncfnf(#[cache_key]other:u8,{rest}"
            ),
            format!(
                "#[cfg(not(not(c)))]#[cfg(not(a))]#[inline]#[cfg_attr(b,doc=\"z\")]asyncfnf(other:u8,{rest}"
            ),
        ]
    );
}
