/** A message text: constant, or a function of the level (a minor version). */
export type LevelText = string | ((level: number) => string)

export function textAt(text: LevelText, level: number): string {
  return typeof text === 'string' ? text : text(level)
}

/** A text that changes at a level. */
export function textSince(since: number, { before, after }: { readonly before: LevelText; readonly after: LevelText }): LevelText {
  return (level) => textAt(level < since ? before : after, level)
}

/** Concatenates texts with a separator. */
export function joinTexts(texts: readonly LevelText[], between = ''): LevelText {
  if (texts.every((text) => typeof text === 'string')) return texts.join(between)
  return (level) => texts.map((text) => textAt(text, level)).join(between)
}
