import React, { useCallback, useEffect, useState } from "react";
import type { FC, ReactNode } from "react";
import { Button } from "@/ui/button";
import * as Dialog from "@radix-ui/dialog";
import styles from "./panel.module.css";
import { useStore, type Task } from "../store";

/** What a panel is given. */
interface PanelProps<T extends Task = Task> {
  title: string;
  tasks: T[];
  selected?: T;
  service: TaskService;
  children?: ReactNode;
  onSelect(task: T): void;
}

type RowProps = { task: Task; dense: boolean };

const EMPTY: Task[] = [];
const ThemeContext = React.createContext<Theme>(defaultTheme());

/** Shows one task. */
const Row: FC<RowProps> = ({ task, dense }) => {
  const [open, setOpen] = useState(false);
  const label = task.describe();
  return (
    <li className={styles.row} onClick={() => setOpen(!open)}>
      {open ? <Details task={task} key={task.id} /> : null}
      <Button variant="ghost" onClick={() => task.toggle()}>
        {label.toUpperCase()}
      </Button>
    </li>
  );
};

/** Lists tasks. */
export function Panel<T extends Task>({ title, tasks, service, selected = undefined, ...rest }: PanelProps<T>) {
  const store = useStore();
  const theme = React.useContext(ThemeContext);
  const select = useCallback(
    (task: T) => {
      rest.onSelect(task);
      service.mark(task);
    },
    [service],
  );

  useEffect(() => {
    const subscription = store.subscribe(refresh);
    return () => subscription.cancel();
  }, [store]);

  function refresh(event: StoreEvent) {
    event.accept();
    service.reload(title);
  }

  if (tasks.length === 0) {
    return <Empty />;
  }
  return (
    <Dialog.Root open>
      <Dialog.Title className={theme.title()}>{title}</Dialog.Title>
      <ul>
        {tasks
          .filter((task) => task.visible())
          .map((task) => (
            <Row key={task.id} task={task} dense={isDense(task)} />
          ))}
      </ul>
      <footer>
        <Counter<number> initial={tasks.length} />
        {rest.children}
      </footer>
    </Dialog.Root>
  );
}

export class Boundary extends React.Component<{ fallback: ReactNode }, BoundaryState> {
  state: BoundaryState = { failed: false };
  private reporter = new Reporter("boundary");

  static getDerivedStateFromError(error: Error): BoundaryState {
    return { failed: true };
  }

  componentDidCatch(error: Error, info: React.ErrorInfo) {
    this.reporter.report(error, info.componentStack);
    super.componentDidCatch(error, info);
  }

  private retry = () => {
    this.reporter.clear();
    this.setState({ failed: false });
  };

  render() {
    if (this.state.failed) {
      return <Fallback onRetry={this.retry}>{this.props.fallback}</Fallback>;
    }
    return this.props.children;
  }
}

export const useTasks = (filter: Filter): Task[] => {
  const store = useStore();
  const [tasks, setTasks] = useState<Task[]>(EMPTY);
  useEffect(() => {
    let alive = true;
    store.load(filter).then((loaded) => {
      if (alive) setTasks(loaded.tasks());
    });
    return () => {
      alive = false;
    };
  }, [filter]);
  return tasks;
};

export const MemoRow = React.memo(Row);

export const Forwarded = React.forwardRef<HTMLDivElement, PanelProps>((props, ref) => (
  <div ref={ref}>
    <Panel {...props} />
  </div>
));

function withStore<P extends object>(Inner: React.ComponentType<P>) {
  return function Wrapped(props: P) {
    const store = useStore();
    return <Inner {...props} store={store} />;
  };
}

const routes = [
  { path: "/", element: <Panel title="Home" tasks={EMPTY} service={new TaskService()} onSelect={noop} /> },
  { path: "/about", element: React.createElement(About) },
];

enum Tab {
  Open = "open",
  Done = "done",
}

export default withStore(Panel);

export async function prefetch(client: ApiClient, tab: Tab = Tab.Open): Promise<void> {
  const tasks: Task[] = await client.tasks(tab);
  for (const task of tasks) {
    task.touch();
  }
  const cache = new Cache<Task>();
  cache.put(tasks[0]);
  await client.session?.refresh();
}
