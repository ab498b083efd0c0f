export type Unsubscribe = () => void;
type Listener<T> = (event: T) => void;

export class EventHub<M extends Record<string, any>> {
  private listeners: { [K in keyof M]?: Listener<M[K]>[] } = {};

  on<K extends keyof M>(name: K, listener: Listener<M[K]>): Unsubscribe {
    const list = (this.listeners[name] ??= []);
    list.push(listener); //~ push -
    return () => this.off(name, listener); //~ off hub.ts:EventHub.off
  }

  off<K extends keyof M>(name: K, listener: Listener<M[K]>): void {
    this.listeners[name] = this.listeners[name]?.filter((l) => l !== listener); //~ filter -
  }

  emit<K extends keyof M>(name: K, event: M[K]): void {
    for (const listener of this.listeners[name] ?? []) {
      listener(event); //~ listener -
    }
  }

  once<K extends keyof M>(name: K, listener: Listener<M[K]>): void {
    const stop = this.on(name, (event) => { //~ on hub.ts:EventHub.on
      stop(); //~ stop -
      listener(event); //~ listener -
    });
  }
}
