//! Entries that cannot be used: damaged, of another type, for another key. Each is a miss, once, and is overwritten.

use cache_core::{
    Bytes, CacheBackend, CacheConfig, CacheManager, backend::CacheId, cache_result,
    testing::MapBackend,
};
use tests::{
    Log, World, bodies, body, both, caches, keys_like, on_redis, redis, redis_backend, with_caches,
};

both!(
    case_b28_what_cannot_be_decoded_is_a_miss_once,
    case_b28_every_damaged_byte_is_noticed,
);

const CACHE: &str = "c";
const KEY: &str = "cache:c:1";

#[cache_result(cache = "c", manager = caches())]
async fn f(_k: u64) -> (u64, String) {
    (body("f"), "a value".to_owned())
}

/// The world's store, to be looked at and to be spoilt by hand.
enum Store {
    Map(MapBackend),
    Redis,
}

impl Store {
    fn of_this_world() -> Self {
        if on_redis() {
            Self::Redis
        } else {
            Self::Map(MapBackend::new())
        }
    }

    fn config(&self) -> CacheConfig {
        match self {
            Self::Map(map) => CacheConfig::on(map.clone()),
            Self::Redis => CacheConfig::on(redis_backend()),
        }
    }

    async fn stored(&self, key_text: &str) -> Bytes {
        let cache = CacheId::new(CACHE, "cache:c");
        let entry = cache.entry(key_text);
        let loaded = match self {
            Self::Map(map) => map.load(entry).await,
            Self::Redis => redis_backend().load(entry).await,
        };
        let loaded = loaded.expect("the store answers");
        loaded.bytes.expect("something is stored")
    }

    async fn plant(&self, bytes: Bytes) {
        match self {
            Self::Map(map) => map.plant(KEY, bytes),
            Self::Redis => ::redis::cmd("SET")
                .arg(KEY)
                .arg(bytes.as_ref())
                .exec_async(&mut redis().await)
                .await
                .expect("the server answers"),
        }
    }
}

/// The stored form of values of other types, and of another version, for the same key of a cache of the same name.
async fn foreign_entries(store: &Store) -> Vec<(&'static str, Bytes)> {
    async fn one<V>(store: &Store, version: u32, value: V) -> Bytes
    where
        V: Clone + Send + Sync + serde::Serialize + serde::de::DeserializeOwned + 'static,
    {
        let caches = CacheManager::builder()
            .defaults(store.config().version(version))
            .build()
            .expect("the configuration is valid");
        let cache = caches.cache::<V>(CACHE).expect("a valid name");
        cache.insert(&1, value).await.expect("the store answers");
        store.stored("1").await
    }

    vec![
        ("a number", one(store, 0, 7_u64).await),
        ("a text", one(store, 0, "x".to_owned()).await),
        // Of the very same bytes in most codecs.
        (
            "a signed number",
            one(store, 0, (7_i64, "x".to_owned())).await,
        ),
        (
            "another order",
            one(store, 0, ("x".to_owned(), 7_u64)).await,
        ),
        (
            "an option",
            one(store, 0, Some((7_u64, "x".to_owned()))).await,
        ),
        (
            "another version",
            one(store, 1, (7_u64, "x".to_owned())).await,
        ),
    ]
}

async fn case_b28_what_cannot_be_decoded_is_a_miss_once() {
    let store = Store::of_this_world();
    let mut planted = foreign_entries(&store).await;
    let config = store.config();
    with_caches(|builder| builder.defaults(config), async {
        // Two real entries, to be spoilt.
        caches()
            .cache::<(u64, String)>(CACHE)
            .expect("a valid name")
            .invalidate(&1)
            .await
            .expect("the store answers");
        f(1).await;
        f(2).await;
        caches().settle().await;
        let real = store.stored("1").await;
        planted.extend([
            ("nothing", Bytes::new()),
            ("garbage", Bytes::from_static(b"{broken")),
            ("zeroes", Bytes::from_static(&[0; 200])),
            ("the first byte", real.slice(..1)),
            ("the first half", real.slice(..real.len() / 2)),
            ("all but the last byte", real.slice(..real.len() - 1)),
            ("all but the first byte", real.slice(1..)),
            ("one byte more", [&real[..], &[0]].concat().into()),
            ("the entry of another key", store.stored("2").await),
        ]);
        let log = Log::listen();
        for (nth, (what, bytes)) in (1..).zip(planted) {
            store.plant(bytes).await;
            let before = bodies("f");
            assert_eq!(f(1).await.0, before, "{what} was taken for a value");
            caches().settle().await;
            assert_eq!(f(1).await.0, before, "{what} was not overwritten");
            let stats = caches().stats()[CACHE];
            assert_eq!(stats.decode_failures, nth, "{what}");
            assert_eq!(stats.backend_errors, 0, "{what}");
        }
        assert_eq!(log.warnings().len(), 1, "{log:?}");
        if on_redis() {
            a_list_in_its_place().await;
        }
    })
    .await;
}

/// Something that `GET` does not even answer.
async fn a_list_in_its_place() {
    let mut redis = redis().await;
    ::redis::pipe()
        .del(KEY)
        .rpush(KEY, "an element")
        .exec_async(&mut redis)
        .await
        .expect("the server answers");
    let (before, failures) = (bodies("f"), caches().stats()[CACHE].decode_failures);
    assert_eq!(f(1).await.0, before);
    caches().settle().await;
    assert_eq!(f(1).await.0, before);
    let stats = caches().stats()[CACHE];
    assert_eq!(stats.backend_errors, 0);
    assert_eq!(stats.decode_failures, failures + 1);
}

async fn case_b28_every_damaged_byte_is_noticed() {
    let store = Store::of_this_world();
    let config = store.config();
    with_caches(|builder| builder.defaults(config), async {
        f(1).await;
        caches().settle().await;
        let real = store.stored("1").await;
        for i in 0..real.len() {
            let mut damaged = real.to_vec();
            damaged[i] ^= 0x10;
            store.plant(damaged.into()).await;
            let before = bodies("f");
            assert_eq!(f(1).await.0, before, "byte {i} of {}", real.len());
            caches().settle().await;
        }
    })
    .await;
}

/// The tokens that guard the entries are no entries, but whoever can write those can write these.
#[tokio::test]
async fn what_stands_in_place_of_a_token_is_overwritten() {
    World::redis()
        .run(async {
            f(1).await;
            let tokens = keys_like("cs:c:*").await;
            assert_eq!(tokens.len(), 2, "a stamp and an epoch");
            let mut redis = redis().await;
            let garbage = [("SET", "x"), ("SET", ""), ("RPUSH", "x"), ("SADD", "x")];
            for (key, (command, value)) in tokens.iter().flat_map(|key| garbage.map(|g| (key, g))) {
                for clear in [false, true] {
                    let plant = ::redis::pipe()
                        .del(key)
                        .cmd(command)
                        .arg(key)
                        .arg(value)
                        .exec_async(&mut redis)
                        .await;
                    plant.expect("the server answers");
                    if clear {
                        let cache = caches().cache::<(u64, String)>(CACHE);
                        let cleared = cache.expect("its type").invalidate_all().await;
                        assert!(cleared.is_ok(), "{key} {command}: {cleared:?}");
                    }
                    let value = f(1).await;
                    caches().settle().await;
                    assert_eq!(f(1).await, value, "in place of {key} by {command}");
                }
            }
        })
        .await;
}
