import { readFileSync } from 'node:fs'

/** A command on a page, with the output that the page shows. */
export interface Typed {
  readonly command: string
  readonly output: readonly string[]
  readonly exitCode: number
}

/** Reads the commands of a page of docs/. */
export interface Page {
  readonly commands: readonly Typed[]
  /** The files that the page tells the reader to write, by name. */
  readonly files: ReadonlyMap<string, string>
}

/** Reads a page: commands begin with `$ `, files are blocks of YAML below a line that names them and ends with a colon. */
export function readPage(name: string): Page {
  const text = readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
  const files = [...text.matchAll(/^[^\n]*`([\w.-]+\.yaml)`[^\n]*:\n\n```yaml\n(.*?)```$/gms)].map(
    ([, file = '', content = '']) => [file, content] as const,
  )
  const blocks = [...text.matchAll(/^```(?:console)?\n(.*?)^```$/gms)].map(([, block = '']) => block)
  return { commands: blocks.flatMap(commandsOf), files: new Map(files) }
}

function commandsOf(block: string): Typed[] {
  const parts = `\n${block}`.split(/^\$ /m).slice(1)
  return parts.map((part) => {
    const [command = '', ...output] = part.trimEnd().split('\n')
    const exit = /^\(exit (\d+)\)$/.exec(output.at(-1) ?? '')
    return { command, output: exit === null ? output : output.slice(0, -1), exitCode: Number(exit?.[1] ?? 0) }
  })
}

/** Output without the values that differ between runs: ages, uids, tokens and column widths. */
export function comparable(lines: readonly string[]): string[] {
  return lines.map((line) =>
    line
      .trimEnd()
      .replace(/\b\d+m\d+s\b|\b\d+s\b/g, '<age>')
      .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uid>')
      .replace(/ {2,}/g, '  '),
  )
}

/** The code blocks of a page in one language, such as `yaml`. */
export function blocksOf(name: string, language: string): string[] {
  const text = readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, block = '']) => block)
}
