/** A text of a message: the same at all levels, or a function of the level (the minor number of a release). */
export type LevelText = string | ((level: number) => string)

/** The text as a level writes it. */
export function textAt(text: LevelText, level: number): string {
  return typeof text === 'string' ? text : text(level)
}

/** One text before a level, and another one from it on. */
export function textSince(since: number, { before, after }: { readonly before: LevelText; readonly after: LevelText }): LevelText {
  return (level) => textAt(level < since ? before : after, level)
}

/** Texts in a row, with another text between them. */
export function joinTexts(texts: readonly LevelText[], between = ''): LevelText {
  if (texts.every((text) => typeof text === 'string')) return texts.join(between)
  return (level) => texts.map((text) => textAt(text, level)).join(between)
}
