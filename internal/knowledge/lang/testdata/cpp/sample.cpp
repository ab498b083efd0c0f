// A small engine.
#include <memory>
#include <vector>
#include "engine/scene.h"

#define ENGINE_VERSION "1.0"

using namespace std::chrono_literals;
using std::string;
namespace fs = std::filesystem;

class Forward;

namespace engine::core {

/// How bright.
enum class Level : int { Low, High = 10 };
enum Legacy { OLD, NEW };

template <typename T>
concept Drawable = requires(T t) { t.draw(); };

using Handler = std::function<void(const Event&)>;
template <class T> using Owner = std::unique_ptr<T>;
typedef std::map<string, Node*> NodeMap;

constexpr int kMaxNodes = 100;
static Registry registry("core");
extern Logger* logger;
inline thread_local auto current = std::make_shared<Scene>();

int helper(int value);

/**
 * A thing in a scene.
 */
class Node : public Base<Node>, private virtual io::Serializable {
  int hidden_ = 0;

 public:
  static constexpr int kLimit = 4;
  static Node* create(const Config& config);

  explicit Node(std::string name, Node* parent = nullptr) : Base<Node>(name), parent_(parent), name_{std::move(name)} {
    parent_->attach(this);
    registry.add(*this);
  }
  Node(const Node&) = delete;
  virtual ~Node() { release(); }

  virtual void draw(Canvas& canvas) const = 0;
  const string& name() const noexcept { return name_; }
  Node& operator+=(const Node& other);
  explicit operator bool() const { return valid(); }
  bool operator==(const Node& other) const { return name_ == other.name(); }

  template <typename V>
  V visit(V visitor) {
    visitor.enter(*this);
    for (auto& child : children_) {
      child->visit(visitor);
    }
    return visitor;
  }

  class Iterator {
   public:
    Node* next() { return at_->sibling(); }

   private:
    Node* at_;
  };

 protected:
  void release();

  std::vector<std::unique_ptr<Node>> children_;
  NodeMap lookup_;

 private:
  friend class Scene;
  Node* parent_;
  std::string name_;
  mutable std::mutex lock_;
  std::function<void(Node&)> on_change_;
};

struct Vec3 final {
  float x, y, z;
  float length() const;
};

union Value {
  int i;
  float f;
};

namespace {
int counter = 0;
void bump(Vec3 v) { counter += v.length(); }
}  // namespace

Node& Node::operator+=(const Node& other) {
  children_.push_back(other.clone());
  children_.back()->draw(canvas());
  return *this;
}

void Node::release() {
  std::lock_guard<std::mutex> guard(lock_);
  for (const auto& [key, node] : lookup_) {
    node->release();
  }
  parent_->detach(this);
  on_change_(*this);
  lookup_["root"]->release();
  helper(kLimit);
}

Node* Node::create(const Config& config) {
  auto node = std::make_unique<Group>(config.name());
  node->resize(3);
  auto* raw = new Group("raw", nullptr);
  raw->draw(config.canvas());
  Vec3 v{1, 2, 3};
  v.length();
  Timer timer(config);
  timer.start();
  auto scene = Scene::open("main");
  scene->render();
  auto copy = static_cast<Group*>(node.get());
  copy->resize(1);
  std::sort(v.begin(), v.end(), [&, count = v.length()](const Vec3& a, const Vec3& b) { return a.length() < b.length(); });
  auto task = [this](Job job) mutable -> int { return job.run(); };
  task(Job());
  if (auto found = config.find("x"); found != nullptr) {
    found->use();
  }
  try {
    risky<int>(3);
    config.get<Color>("c").apply();
  } catch (const Failure& failure) {
    failure.report();
    throw Error("x", failure.code());
  }
  delete raw;
  Level level = Level::High;
  current->touch();
  fs::path path = fs::current_path();
  path.append("x");
  return node.release();
}

template <typename T, int N>
class Grid : public Shape {
 public:
  T& at(int index);
  T cells[N];
};

template <typename T, int N>
T& Grid<T, N>::at(int index) {
  cells[index].touch();
  return cells[index];
}

template <>
inline void swap<Node>(Node& a, Node& b) {
  a.exchange(b);
}

template <Drawable D, typename... Args>
auto emplace(Args&&... args) -> Owner<D> {
  return build<D>(std::forward<Args>(args)...);
}

}  // namespace engine::core

engine::core::Node* make_node() {
  return engine::core::Node::create(engine::Config{});
}

float engine::core::Vec3::length() const { return std::sqrt(x * x + helper(1)); }

extern "C" {
int engine_init(const char* path);
void engine_run(struct engine_state* state) { state->scene->render(); }
}

int main(int argc, char** argv) {
  std::vector<engine::core::Vec3> points;
  points[0].length();
  for (int i = 0; i < argc; ++i) {
    points.at(i).length();
  }
  engine::run(argv[0]);
  return EXIT_SUCCESS;
}
