import type { StatusLine } from '@orch/platform'
import type { StarterMessage } from './starter.ts'

/** The process, as commands see it. */
export interface Terminal {
  readonly arguments: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
  out(text: string): void
  error(text: string): void
  /** Says what is done while it lasts; absent where standard error is no terminal. */
  readonly statusLine?: StatusLine
  /** Tells the process of ours that has started this one; resolves when the message is on its way. Absent: there is none. */
  notify?(message: StarterMessage): Promise<void>
}
