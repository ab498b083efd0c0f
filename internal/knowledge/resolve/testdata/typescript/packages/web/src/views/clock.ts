class Clock {
  private timer = 0;

  start(): Clock {
    this.timer = window.setInterval(() => this.tick(), 1000);
    return this;
  }

  private tick() {
    this.now();
  }

  now(): Date {
    return new Date();
  }
}

let shared: Clock | undefined;

export const useClock = (): Clock => {
  shared ??= new Clock();
  return shared.start();
};
