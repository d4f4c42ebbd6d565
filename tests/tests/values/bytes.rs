//! Values that are bytes.

use std::{fmt::Debug, sync::Arc};

use cache_core::{Bytes, CodecHandle, Json, MessagePack, Postcard};
use serde::{Serialize, de::DeserializeOwned};
use tests::{World, caches, stored, with_caches};

use crate::raw;

/// Not text, and longer than one byte can say.
fn content(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index * 7 % 256) as u8).collect()
}

#[tokio::test]
async fn bytes_are_stored_as_they_are() {
    World::redis().run(stored_as_they_are()).await;
}

async fn stored_as_they_are() {
    async fn is_stored_as<V>(name: &str, value: V, form: &[u8])
    where
        V: Serialize + DeserializeOwned + Clone + Debug + PartialEq + Send + Sync + 'static,
    {
        let cache = caches().cache::<V>(name).expect("a cache");
        cache.insert(&7, value.clone()).await.expect("it is stored");
        let entry = raw(&format!("cache:{name}:7")).await;
        assert_eq!(entry.split_last_chunk::<48>().expect("a trailer").0, form);
        assert_eq!(cache.get(&7).await, Some(value));
        assert_eq!(caches().stats()[name].decode_failures, 0);
    }

    with_caches(
        |builder| {
            let postcard = stored().codec(Postcard);
            builder
                .defaults(stored())
                .cache("postcard", postcard)
                .cache("json", stored().codec(Json))
        },
        async {
            for length in [0, 3, 300, 70_000] {
                let bytes = content(length);
                // As long as two different codecs write a number of elements.
                let (bincode, postcard) = match length {
                    0 | 3 => (vec![length as u8], vec![length as u8]),
                    300 => (vec![251, 44, 1], vec![0xac, 2]),
                    _ => (vec![252, 0x70, 0x11, 1, 0], vec![0xf0, 0xa2, 4]),
                };
                let bincode = [bincode, bytes.clone()].concat();
                is_stored_as("vec", bytes.clone(), &bincode).await;
                is_stored_as("arc", Arc::<[u8]>::from(&bytes[..]), &bincode).await;
                is_stored_as("bytes", Bytes::from(bytes.clone()), &bincode).await;
                is_stored_as("postcard", bytes.clone(), &[postcard, bytes].concat()).await;
            }
            is_stored_as("json", vec![1, 2, 255], b"[1,2,255]").await;
        },
    )
    .await;
}

#[tokio::test]
async fn bytes_of_another_codec_or_type_are_a_miss() {
    World::redis().run(a_miss()).await;
}

async fn a_miss() {
    async fn with<V>(codec: CodecHandle, value: V, others: u64)
    where
        V: Serialize + DeserializeOwned + Clone + Debug + PartialEq + Send + Sync + 'static,
    {
        let config = match codec.name() {
            "json" => stored().codec(Json),
            "message-pack" => stored().codec(MessagePack),
            "postcard" => stored().codec(Postcard),
            _ => stored(),
        };
        with_caches(|builder| builder.cache("c", config), async {
            let cache = caches().cache::<V>("c").expect("a cache");
            // What was stored before is no error, and is overwritten.
            let load = async { value.clone() };
            assert_eq!(cache.get_or_load(&7, load).await, value);
            assert_eq!(caches().stats()["c"].decode_failures, others);
            caches().settle().await;
            let again = async { panic!("it is stored") };
            assert_eq!(cache.get_or_load(&7, again).await, value);
        })
        .await;
    }

    for length in [3, 300] {
        let bytes = content(length);
        with(Json.into(), bytes.clone(), u64::from(length > 3)).await;
        with(CodecHandle::default(), bytes.clone(), 1).await;
        with(Postcard.into(), Bytes::from(bytes.clone()), 1).await;
        with(CodecHandle::default(), String::from("a text"), 1).await;
        with(CodecHandle::default(), Bytes::from(bytes.clone()), 1).await;
        with(MessagePack.into(), bytes.clone(), 1).await;
    }
}
