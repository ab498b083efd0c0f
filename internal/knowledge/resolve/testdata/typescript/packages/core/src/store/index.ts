export { Board } from "./board";
export { Card, type CardData } from "./card";
export { openRepository } from "./repository";
export type { Repository } from "./repository";
