import { type Clock, systemClock, type Timer } from './clock.ts'

/** Standard error of a process, or a replacement in tests. */
export interface StatusStream {
  readonly isTTY?: boolean
  readonly columns?: number
  hasColors?(): boolean
  write(text: string): unknown
}

/** The screen of a status line. */
interface StatusScreen {
  readonly stream: StatusStream
  readonly hasColors: boolean
}

/**
 * The last line of a terminal, which shows the current step of a command. It is overwritten and finally cleared. Work that takes
 * less than half a second shows no line.
 */
export interface StatusLine {
  /** Shows the current step. */
  show(text: string): void
  /** Clears the line before another part of the command prints a text; the line is drawn again below that text. */
  giveWayTo(text: string): void
  /** Runs work that needs the terminal for itself. */
  suspendedWhile<T>(work: () => Promise<T>): Promise<T>
  close(): void
}

/** Minimum duration of work that is shown. */
const shownAfterMs = 500
const drawnEveryMs = 100
/** Minimum duration of a step whose elapsed time is shown. */
const timedAfterMs = 3_000

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
/** The width of a terminal that reports no width, or 0. */
const widthDefault = 80
const eraseLine = '\r\u001b[K'

/** A status line that draws nothing, for output that is not a terminal. */
export const noStatusLine: StatusLine = {
  show: () => undefined,
  giveWayTo: () => undefined,
  suspendedWhile: (work) => work(),
  close: () => undefined,
}

/** Opens a status line on a stream. It draws nothing on a stream that is no terminal or cannot overwrite a line. NO_COLOR disables colours. */
export function openStatusLine(
  stream: StatusStream,
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock = systemClock,
): StatusLine {
  if (stream.isTTY !== true || env['TERM'] === 'dumb') return noStatusLine
  return new TerminalStatusLine({ stream, hasColors: stream.hasColors?.() === true && (env['NO_COLOR'] ?? '') === '' }, clock)
}

class TerminalStatusLine implements StatusLine {
  readonly #screen: StatusScreen
  readonly #clock: Clock
  #text = ''
  #beganMs = 0
  #textBeganMs = 0
  #drawnMs = 0
  #frame = 0
  #isDrawn = false
  /** True if another part of the command has printed a text without a final line break. */
  #isWithinLine = false
  #suspensions = 0
  #timer: Timer | undefined

  constructor(screen: StatusScreen, clock: Clock) {
    this.#screen = screen
    this.#clock = clock
  }

  show(text: string): void {
    const nowMs = this.#clock.monotonic()
    if (text !== this.#text) this.#textBeganMs = nowMs
    this.#text = text
    if (this.#timer === undefined) {
      this.#beganMs = nowMs
      this.#timer = this.#clock.every(drawnEveryMs, () => this.#drawWhenDue())
    }
    // Work that never yields runs no timer, so the line is drawn here.
    this.#drawWhenDue()
  }

  giveWayTo(text: string): void {
    if (text === '') return
    this.#erase()
    this.#isWithinLine = !text.endsWith('\n')
  }

  async suspendedWhile<T>(work: () => Promise<T>): Promise<T> {
    this.#erase()
    this.#suspensions += 1
    try {
      return await work()
    } finally {
      this.#suspensions -= 1
    }
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#text = ''
    this.#erase()
  }

  #drawWhenDue(): void {
    const nowMs = this.#clock.monotonic()
    if (this.#isWithinLine || this.#suspensions > 0 || nowMs - this.#beganMs < shownAfterMs || nowMs - this.#drawnMs < drawnEveryMs) return
    this.#drawnMs = nowMs
    this.#draw(nowMs - this.#textBeganMs)
  }

  #draw(lastsMs: number): void {
    const frame = frames[this.#frame++ % frames.length] ?? ''
    const time = lastsMs < timedAfterMs ? '' : ` (${Math.floor(lastsMs / 1_000)} s)`
    // Some terminals wrap a line of their full width.
    const room = Math.max((this.#screen.stream.columns || widthDefault) - 3 - time.length, 0)
    const text = this.#text.length <= room ? this.#text : `${this.#text.slice(0, Math.max(room - 1, 0))}…`
    const mark = this.#screen.hasColors ? `\u001b[36m${frame}\u001b[0m` : frame
    this.#screen.stream.write(`${eraseLine}${mark} ${text}${time}`)
    this.#isDrawn = true
  }

  #erase(): void {
    if (this.#isDrawn) this.#screen.stream.write(eraseLine)
    this.#isDrawn = false
  }
}
