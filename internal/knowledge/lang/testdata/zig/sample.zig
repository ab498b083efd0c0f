//! Sells things.

const std = @import("std");
const builtin = @import("builtin");
const util = @import("util.zig");
const Logger = @import("log.zig").Logger;
const mem = std.mem;
const Allocator = std.mem.Allocator;
const ArrayList = std.ArrayList;

/// How many at most.
pub const max_items: usize = 10;
const VERSION = "1.0";
var counter: u32 = 0;
pub var default_logger: Logger = Logger.init("shop");
const table = [_]u8{ 1, 2, 3 };

/// What can go wrong.
pub const ShopError = error{
    SoldOut,
    NotFound,
};

pub const AllErrors = ShopError || Allocator.Error;

/// How far an order is.
pub const Status = enum(u8) {
    open,
    paid = 2,

    pub fn label(self: Status) []const u8 {
        return switch (self) {
            .open => "open",
            .paid => paidLabel(),
        };
    }
};

const Value = union(enum) {
    number: i64,
    text: []const u8,
    item: *Item,

    fn describe(self: Value) void {
        switch (self) {
            .number => |n| printNumber(n),
            .item => |item| item.touch(),
            else => {},
        }
    }
};

/// A thing.
pub const Item = struct {
    id: u64,
    name: []const u8 = "",
    owner: ?*Customer = null,
    tags: []Tag,

    pub const empty = Item{ .id = 0, .tags = &.{} };

    pub fn touch(self: *Item) void {
        self.owner.?.notify();
        for (self.tags) |tag| {
            tag.mark(self.id);
        }
        for (self.tags, 0..) |*tag, i| {
            tag.number(i);
        }
    }
};

const Point = packed struct { x: i32, y: i32 };

const Handle = opaque {
    extern fn close(handle: *Handle) void;
};

/// Keeps items.
pub const Shop = struct {
    const Self = @This();

    allocator: Allocator,
    items: ArrayList(Item),
    client: *Client,
    logger: Logger,
    status: Status = .open,
    on_sale: ?*const fn (item: *Item) bool = null,

    /// Opens a shop.
    pub fn init(allocator: Allocator, client: *Client) !Self {
        const logger = Logger.init("shop");
        logger.info("open {s}", .{client.name()});
        return Self{
            .allocator = allocator,
            .items = ArrayList(Item).init(allocator),
            .client = client,
            .logger = logger,
        };
    }

    pub fn deinit(self: *Self) void {
        self.items.deinit();
        self.* = undefined;
    }

    pub fn sell(self: *Self, id: u64, customer: Customer) ShopError!Receipt {
        const item = try self.find(id);
        item.touch();
        defer item.release();
        errdefer self.rollback(id);
        var receipt = Receipt.init(item, customer);
        receipt.print();
        try receipt.line(0).show();
        const response = self.client.post("/sales", receipt) catch |err| {
            self.logger.err("failed {}", .{err});
            return ShopError.SoldOut;
        };
        response.check();
        if (self.lookup(id)) |known| {
            known.touch();
        } else |err| {
            report(err);
        }
        var it = self.iterator();
        while (it.next()) |next| {
            next.touch();
        }
        const first = self.items.items[0];
        first.touch();
        const owner = item.owner orelse return error.NotFound;
        owner.notify();
        const buffer = try self.allocator.alloc(u8, 10);
        defer self.allocator.free(buffer);
        std.debug.print("{}\n", .{util.double(id)});
        Self.audit(&receipt);
        Shop.audit(&receipt);
        const label = if (receipt.total() > 3) self.status.label() else "small";
        mem.copy(u8, buffer, label);
        const Local = struct {
            n: u32,
            fn go(local: @This()) void {
                local.run();
            }
        };
        const local = Local{ .n = 1 };
        local.go();
        counter += 1;
        default_logger.flush();
        return receipt;
    }

    fn find(self: *Self, id: u64) ShopError!*Item {
        for (self.items.items) |*item| {
            if (item.id == id) return item;
        }
        return error.NotFound;
    }

    inline fn audit(receipt: *Receipt) void {
        receipt.audit();
        comptime check(Receipt);
    }
};

/// A stack of anything.
pub fn Stack(comptime T: type) type {
    return struct {
        const This = @This();

        items: []T,
        log: Logger,

        pub fn push(self: *This, value: T) !void {
            self.log.info("push", .{});
            try grow(self);
            _ = value;
        }

        pub fn pop(self: *@This()) ?T {
            return self.peek();
        }
    };
}

pub fn max(comptime T: type, a: T, b: T) T {
    return if (a > b) a else b;
}

export fn shop_open(path: [*:0]const u8) callconv(.C) ?*Shop {
    return openShop(std.mem.span(path));
}

extern "c" fn getpid() c_int;

fn callback(context: *anyopaque, comptime fmt: []const u8, args: anytype) void {
    const shop: *Shop = @ptrCast(@alignCast(context));
    shop.deinit();
    args.run(fmt);
}

pub fn main() !void {
    var gpa = std.heap.GeneralPurposeAllocator(.{}){};
    const allocator = gpa.allocator();
    var shop = try Shop.init(allocator, undefined);
    defer shop.deinit();
    var stack = Stack(u32).init();
    stack.push(max(u32, 1, 2)) catch unreachable;
    _ = try shop.sell(1, .{});
}

test "sells" {
    var shop = try Shop.init(std.testing.allocator, undefined);
    try std.testing.expect(shop.status.label().len > 0);
}

test {
    std.testing.refAllDecls(Shop);
}
