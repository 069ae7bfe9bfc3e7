import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'

/** The result of a command. */
export interface Done {
  /** Both streams, as a terminal shows them. */
  readonly output: readonly string[]
  readonly exitCode: number
}

/** One shell for all commands of a page, so that a command sees the variables of earlier commands. */
export class Shell {
  readonly #child: ChildProcessWithoutNullStreams
  #text = ''
  #heard: () => void = () => {}

  constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.#child = spawn('sh', [], { cwd: folder, env })
    this.#child.stdin.write('exec 2>&1\n')
    this.#child.stdout.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString()
      this.#heard()
    })
    onTestFinished(() => void this.#child.kill('SIGKILL'))
  }

  async type(command: string): Promise<Done> {
    const end = /(?:^|\n)<end (\d+)>\n$/
    this.#child.stdin.write(`${command}\nprintf '\\n<end %s>\\n' $?\n`)
    for (;;) {
      const found = end.exec(this.#text)
      if (found !== null) {
        const output = this.#text.slice(0, found.index).replace(/\n$/, '')
        this.#text = ''
        return { output: output === '' ? [] : output.split('\n'), exitCode: Number(found[1]) }
      }
      await new Promise<void>((resolve) => {
        this.#heard = resolve
      })
    }
  }
}
