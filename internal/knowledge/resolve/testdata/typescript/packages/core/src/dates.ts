export function today(): Date {
  return startOf(new Date());
}

export const startOf = (date: Date): Date => {
  date.setHours(0);
  return date;
};

export function isLate(due: Date, now = today()): boolean {
  return startOf(due) < now;
}
