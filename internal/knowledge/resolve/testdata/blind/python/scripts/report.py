import argparse
import asyncio
import sys

import shop
import shop.billing as billing
from shop import place_order, load_catalog
from shop.ext import apply_discount
from shop.billing import connect, render_invoice


async def fetch(order: shop.Order) -> billing.Invoice:
    await asyncio.sleep(0)  #~ sleep -
    return billing.Invoice.of(order)  #~ of invoice.py:Invoice.of


async def run(path: str) -> int:
    with open(path) as lines:
        catalog = load_catalog(lines)  #~ load_catalog catalog.py:load_catalog
    order = place_order(catalog, "ada", {"x": 2})  #~ place_order orders.py:place
    invoice = await fetch(order)  #~ fetch report.py:fetch
    with connect("fake:") as gateway:  #~ connect gateway.py:connect
        gateway.session().submit(invoice)  #~ session gateway.py:Gateway.session; submit gateway.py:Session.submit
    print(render_invoice(invoice))  #~ render_invoice plain.py:render_invoice
    for sku in ("x", "y"):
        if (product := catalog.lookup(sku)) is not None:  #~ lookup catalog.py:Registry.lookup
            print(apply_discount(product).pretty())  #~ apply_discount discount.py:apply_discount; pretty money.py:Money.pretty
    order.close()  #~ close orders.py:Order.close
    return len(catalog.labels())  #~ labels catalog.py:Catalog.labels


def main(argv=None) -> int:
    parser = argparse.ArgumentParser()  #~ ArgumentParser -
    parser.add_argument("path")  #~ add_argument -
    args = parser.parse_args(argv)  #~ parse_args -
    return asyncio.run(run(args.path))  #~ run -; run#2 report.py:run


if __name__ == "__main__":
    sys.exit(main())  #~ exit -; main report.py:main
