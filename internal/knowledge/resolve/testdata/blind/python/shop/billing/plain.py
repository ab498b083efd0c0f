def render_invoice(invoice, width=80):
    def row(left, right):
        return left.ljust(width - len(right)) + right  #~ ljust -

    rows = [row(line.title(), line.amount().pretty()) for line in invoice.lines]  #~ row plain.py:render_invoice.row; title invoice.py:Line.title; amount invoice.py:Line.amount; pretty money.py:Money.pretty
    rows.append(row("total", invoice.total().pretty()))  #~ append -; row plain.py:render_invoice.row; total invoice.py:Invoice.total; pretty money.py:Money.pretty
    return "\n".join(rows)  #~ join -
