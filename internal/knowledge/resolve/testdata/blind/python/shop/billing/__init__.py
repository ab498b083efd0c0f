from .invoice import Invoice, Line
from .gateway import Gateway, StripeGateway, FakeGateway, connect

try:
    from ._fast import render_invoice
except ImportError:
    from .plain import render_invoice
