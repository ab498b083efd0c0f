# frozen_string_literal: true

require "json"
require_relative "shop/item"
require_relative "../config"
autoload :Legacy, "shop/legacy"

# Sells things.
module Shop
  VERSION = "1.0"
  DEFAULTS = Settings.new(limit: 3).freeze
  LEVELS = %i[low high].freeze

  # What goes wrong.
  class Error < StandardError; end
  class SoldOut < Error
    def initialize(item)
      super("sold out: #{item.name}")
      @item = item
    end
  end

  Point = Struct.new(:x, :y) do
    def distance(other)
      Math.sqrt(other.x)
    end
  end

  Plain = Class.new(Error)

  # Things that can be logged.
  module Loggable
    def self.included(base)
      base.extend(ClassMethods)
    end

    module ClassMethods
      def logger
        @logger ||= Logger.new($stdout)
      end
    end

    def log(message, level: :info)
      self.class.logger.send(level, message)
      tags.each { |tag| tag.mark(message) }
    end
  end

  # Keeps items.
  #
  # Not thread safe.
  class Store < Base::Repository
    include Loggable, Enumerable
    extend Shop::Finders
    prepend Cached

    MAX_ITEMS = 10

    attr_reader :items, :mailer
    attr_accessor :clock
    alias_method :all, :items
    alias size count

    delegate :first, to: :items
    has_many :orders, dependent: :destroy
    validates :name, presence: true
    before_save :normalize, if: -> { changed? }
    scope :recent, ->(days) { where(age: days).order(:age) }

    class << self
      def open(path, **options)
        store = new(path, **options)
        store.load!
        yield store if block_given?
        store
      end

      private

      def registry
        Registry.instance
      end
    end

    def self.build(config = Config.default)
      new(config.path, mailer: Mailer.new(config))
    end

    def initialize(path, mailer: Mailer.new, clock: nil, *rest, &block)
      super(path)
      @path = path
      @mailer = mailer
      @clock = clock || Clock.new("utc")
      @items = []
      @client = Http::Client.new(path)
      @@count = Counter.new
    end

    # Adds one.
    def add(item, quantity = 1)
      raise ArgumentError, "no item" unless item
      return false if full?

      validate item
      @client.post("/items", item)
      @mailer.deliver(item.owner, subject: title(item))
      @@count.increment
      @clock.now.to_s
      receipt = Receipt.new(item, quantity)
      receipt.print
      receipt.lines.map(&:total).sum
      store = Store.open("x")
      store.add(item)
      items << item
      items[0].touch
      quantity.times do |n|
        item.tags.each_with_index { |tag, index| tag.mark(index, n) }
      end
      printer = ->(line) { line.print(receipt) }
      printer.call(receipt)
      self.clock = Clock.current
      self.notify(*items, **options)
      Shop::Item.parse("x")&.touch
      first, second = split(item)
      first.touch
      log "added #{receipt.number}", level: :debug
      true
    rescue SoldOut, Timeout::Error => e
      e.backtrace
      retry_later(e)
    rescue Http::Failure => failure
      failure.report
    ensure
      cleanup
    end

    def each(&block)
      return enum_for(:each) unless block

      @items.each(&block)
    end

    def <=>(other)
      path <=> other.path
    end

    def [](key) = @items.fetch(key)

    def name=(value)
      @name = value.to_s.strip
    end

    def full?
      count >= MAX_ITEMS
    end

    def kind
      case @client
      when Http::Client then :http
      when Local, nil then :local
      else super
      end
    end

    define_method(:dynamic) { |arg| transform(arg) }

    protected

    def compare(other)
      other.path.length
    end

    private

    attr_writer :secret

    def title(item)
      item.respond_to?(:title) ? item.title : default_title
    end

    def build_index
      index = Hash.new { |hash, key| hash[key] = Index.build(key) }
      for item in @items
        index[item.id].push(item)
      end
      while (node = index.next)
        node.visit
      end
      begin
        index.save!
      rescue IOError
        nil
      end
      index
    end

    public

    def shown; end

    private def hidden_one
      42
    end
  end
end

class Shop::Cart
  def total = lines.sum(&:price)
end

def helper(argument)
  Shop::Store.build.add(argument)
end

store = Shop::Store.open("db") do |s|
  s.add(Item.new)
end
store.each { |item| puts item.name }
helper(store)
