import type { SessionInput } from '@orch/core/contracts'
import type { TerminalSize } from './program.ts'

const keys = { interrupt: 0x03, end: 0x04, backspace: 0x08, newline: 0x0a, carriageReturn: 0x0d, delete: 0x7f } as const
const lineBytesMax = 4096

export interface TerminalInput {
  readonly input: AsyncIterable<SessionInput>
  readonly onSize: (size: TerminalSize) => void
  /** Control-C was typed. */
  readonly onInterrupt: () => void
  readonly echo: (text: string) => Promise<void>
}

/** The input of a program: raw bytes. */
export async function* plainInput({ input, onSize }: Pick<TerminalInput, 'input' | 'onSize'>): AsyncGenerator<Uint8Array> {
  for await (const part of input) {
    if (part.kind === 'stdin') yield part.bytes
    if (part.kind === 'resize') onSize({ width: part.width, height: part.height })
  }
}

/** The input of a program at a terminal: lines, echoed while they are typed. */
export async function* typedInput(terminal: TerminalInput): AsyncGenerator<Uint8Array> {
  let line: number[] = []
  for await (const bytes of plainInput(terminal)) {
    let shown = ''
    for (const byte of bytes) {
      if (byte === keys.interrupt) {
        await terminal.echo(`${shown}^C\r\n`)
        shown = ''
        line = []
        terminal.onInterrupt()
        continue
      }
      if (byte === keys.end) {
        if (line.length === 0) {
          await terminal.echo(shown)
          return
        }
        yield Uint8Array.from(line)
        line = []
      } else if (byte === keys.delete || byte === keys.backspace) {
        if (line.pop() !== undefined) shown += '\b \b'
      } else if (byte === keys.carriageReturn || byte === keys.newline) {
        await terminal.echo(`${shown}\r\n`)
        shown = ''
        yield Uint8Array.from([...line, keys.newline])
        line = []
      } else if (line.length < lineBytesMax) {
        line.push(byte)
        shown += String.fromCharCode(byte)
      }
    }
    if (shown !== '') await terminal.echo(shown)
  }
  if (line.length > 0) yield Uint8Array.from(line)
}

/** The output of a program at a terminal: each newline gets a carriage return. */
export function printedText(text: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(text)
  if (!bytes.includes(keys.newline)) return bytes
  return Buffer.from(bytes.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')
}
