// Orders of a shop.
using System;
using System.Collections.Generic;
using static System.Math;
using Json = System.Text.Json.JsonSerializer;
global using Shop.Shared;

namespace Shop.Orders;

/// <summary>How far an order is.</summary>
public enum Status : byte
{
    Open,
    [Obsolete("x")] Paid = 2,
}

public delegate Task Notified(Order order, string reason);

/// <summary>Keeps things.</summary>
public interface IRepository<T> : IReadable<T>, IDisposable where T : Entity
{
    const int Limit = 10;
    int Count { get; }
    Task<T?> FindAsync(Guid id, CancellationToken token = default);
    void Save(T entity) => Store(entity);
}

public record Address(string Street, City City) : Entity(Street);

public readonly record struct Money(decimal Amount, Currency Currency)
{
    public static Money Zero => new(0, Currency.Default);
    public static Money operator +(Money a, Money b) => a.Add(b);
    public static explicit operator decimal(Money money) => money.Amount;
    private Money Add(Money other) => this with { Amount = Amount + other.Amount };
}

internal struct Point : IEquatable<Point>
{
    public int X, Y;
    public bool Equals(Point other) => X == other.X;
}

/// <summary>
/// Handles orders.
/// </summary>
[ApiController]
[Route("orders", Name = nameof(OrderService))]
public sealed partial class OrderService<TOrder> : ServiceBase<TOrder>, IOrderService, IAsyncDisposable
    where TOrder : Order, new()
{
    public const string Name = "orders";
    private static readonly ILogger Log = LogManager.For<OrderService<TOrder>>();
    private readonly IRepository<TOrder> _repository;
    private List<Line> _lines = new();
    private Dictionary<string, Customer> _customers = new Dictionary<string, Customer>();
    public event EventHandler<OrderPlaced>? Placed;
    private int first, second = Compute();

    public Clock Clock { get; init; } = Clock.System;
    public required Money Total { get; set; }
    public Customer Owner => _customers["owner"].Resolve();

    public int Size
    {
        get { return _lines.Count; }
        set => Resize(value);
    }

    public Line this[int index] => _lines[index].Clone();

    public OrderService(IRepository<TOrder> repository, Options options) : base(options)
    {
        _repository = repository;
        options.Validate();
    }

    public OrderService() : this(new MemoryRepository<TOrder>(), Options.Default)
    {
    }

    ~OrderService()
    {
        Release();
    }

    static OrderService()
    {
        Registry.Register(typeof(Order));
    }

    /// <summary>Places an order.</summary>
    [Authorize(Roles = "user")]
    public override async Task<Receipt> PlaceAsync(TOrder order, Customer? customer = null, params Tag[] tags)
    {
        ArgumentNullException.ThrowIfNull(order);
        var found = await _repository.FindAsync(order.Id, default).ConfigureAwait(false);
        found?.Touch();
        var receipt = new Receipt(order.Total(), customer!) { Note = Notes.For(order), Lines = { order.First() } };
        receipt.Print();
        foreach (var line in _lines)
        {
            line.Ship();
        }

        foreach (Line line in order.Lines)
        {
            line.Check();
        }

        tags[0].Apply();
        _lines.Where(l => l.IsOpen()).Select(l => l.Price()).ToList();
        _lines.First(l => l.IsOpen()).Ship();
        _customers["a"].Notify(receipt);
        if (_customers.TryGetValue("x", out Customer known) && known.Active())
        {
            known.Greet();
        }

        using var scope = Tracing.Start("place");
        scope.Finish();
        using (Stream stream = Open())
        {
            stream.Flush();
        }

        if (customer is Premium premium && premium.Discount() > 0)
        {
            premium.Reward();
        }

        switch (order.State())
        {
            case Shipped shipped when shipped.Late():
                shipped.Refund();
                break;
            case null:
                break;
            default:
                Fallback();
                break;
        }

        var label = order.State() switch
        {
            Shipped s => s.Label(),
            { Late: true } => "late",
            _ => Max(1, 2).ToString(),
        };

        try
        {
            Placed?.Invoke(this, new OrderPlaced(order));
            base.Audit(label);
        }
        catch (PaymentException ex) when (ex.Retryable())
        {
            ex.Log(Log);
            throw new OrderException("failed", ex);
        }
        finally
        {
            Log.Info($"placed {receipt.Number()}");
        }

        int Local(int n) => n + Size;
        Func<Line, bool> open = line => line.IsOpen();
        Action<Line> ship = delegate(Line line) { line.Ship(); };
        Notified handler = OnNotified;
        handler(order, "x");
        var text = (order as Special)?.Describe() ?? ((Special)order).Fallback();
        Json.Serialize(text);
        this.Clock.Now().AddDays(Local(1));
        Order.Builder builder = Order.Builder.Create();
        builder.Build();
        new Worker<Job>(open).Run(ship);
        return receipt;
    }

    private static Task OnNotified(Order order, string reason) => Task.CompletedTask;

    protected abstract T Convert<T>(Line line) where T : IShape;

    async ValueTask IAsyncDisposable.DisposeAsync()
    {
        await Owner.ReleaseAsync();
    }

    private class Cursor : IEnumerator<Line>
    {
        private readonly OrderService<TOrder> _owner;

        public bool MoveNext() => _owner.Advance(this);
    }
}

public static class LineExtensions
{
    public static Money Sum(this IEnumerable<Line> lines)
    {
        Money total = Money.Zero;
        foreach (var line in lines)
        {
            total += line.Price();
        }

        return total;
    }
}
