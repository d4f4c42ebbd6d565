mod shop {
    use cache_core::cache_result;

    #[cache_result(cache = "c")]
    async fn private(id: u64) -> u64 {
        id
    }

    pub mod inner {
        #[cache_core::cache_result(cache = "c")]
        pub(in crate::shop) async fn of_a_path(id: u64) -> u64 {
            super::private(id).await
        }
    }
}

async fn callers() {
    shop::private(1).await;
    shop::inner::of_a_path(1).await;
}

fn main() {}
