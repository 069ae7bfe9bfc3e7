import type { Settings } from '@orch/platform'

/** Flags with their values, and the paths between them. */
export function splitWords(settings: Settings, words: readonly string[]) {
  const flags: string[] = []
  const paths: string[] = []
  const takesWord = Object.values(settings).flatMap(({ flag, type }): string[] => (type.word === '' ? [] : [flag]))
  for (const [index, word] of words.entries()) {
    const isFlag = word.startsWith('-') || takesWord.includes(words[index - 1] ?? '')
    if (isFlag) flags.push(word)
    else paths.push(word)
  }
  return { flags, paths }
}
