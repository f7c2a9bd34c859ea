"""The pages in the order of the menu; the first stands at the bare address."""

from pages import (
    batching,
    dataflow,
    decode_shift,
    disaggregation,
    evidence,
    glossary,
    hardware,
    kv_cache,
    metrics,
    one_request,
    roofline,
    stories,
)

VIEWS = tuple(
    page.VIEW
    for page in (
        one_request,
        stories,
        roofline,
        kv_cache,
        decode_shift,
        batching,
        hardware,
        dataflow,
        metrics,
        disaggregation,
        evidence,
        glossary,
    )
)
