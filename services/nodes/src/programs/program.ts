import type { ContainerUser, PodHost } from '@orch/core/pod-life'
import type { Pod } from '@orch/core/workloads'
import type { TimerOptions } from '@orch/platform'
import type { ContainerFiles } from './container-files.ts'

/** A running container for a program in it. */
export interface RunningContainer {
  readonly pod: Pod
  readonly name: string
  readonly host: PodHost
  readonly user: ContainerUser
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  /** The files of the container, which end with its run, and those of its volumes. */
  readonly files: ContainerFiles
  /** The same with the current objects in its volumes. */
  currentFiles(): Promise<ContainerFiles>
  /** Milliseconds since 1970 by the clock of the node. */
  now(): number
  /** By the clock of the node; ends early with the signal. */
  sleep(ms: number, signal: AbortSignal, options?: TimerOptions): Promise<void>
  /** Lets other work run; a clock of a test waits for the program. */
  turn(): Promise<void>
  /** The work of all shells of one command, in each other or in pipelines; `shells` run now. */
  readonly shellCounts?: Record<'commands' | 'rounds' | 'shells' | 'heldBytes', number>
}

/** The size of a terminal in characters. */
export interface TerminalSize {
  readonly width: number
  readonly height: number
}

export interface ProgramStreams {
  /** The input of the client. Ends when the client ends it or disconnects; empty without input. */
  readonly stdin: AsyncIterable<Uint8Array>
  /** Both outputs of a terminal are `stdout`. */
  readonly isTerminal: boolean
  /** The current size of the terminal, up to the read input. */
  readonly size: TerminalSize | undefined
  /** Aborted when the client has disconnected or has typed Control-C, or the container has ended. */
  readonly signal: AbortSignal
  /** Called instead of aborting the signal when the client types Control-C. */
  readonly interrupts: { handle: (() => void) | undefined }
  /** Resolves when the client has read most of it; rejects when it has disconnected. */
  write(to: 'stdout' | 'stderr', text: string | Uint8Array): Promise<void>
}

/** A program of a container: runs, and returns its exit status from 0 to 255. */
export type Program = (
  container: RunningContainer,
  command: readonly string[],
  streams: ProgramStreams,
) => number | undefined | Promise<number | undefined>

/** Finds the program of a command. Undefined for an unknown command. */
export type ProgramSource = (container: RunningContainer, command: readonly string[]) => Program | undefined

/** A connection to a port of a container. */
export interface PortSocket {
  readonly input: AsyncIterable<Uint8Array>
  /** Aborted when the client has disconnected, or the container has ended. */
  readonly signal: AbortSignal
  /** Resolves when the client has read most of it; rejects when it has disconnected. */
  write(bytes: string | Uint8Array): Promise<void>
  /** Called by a handler before it first waits: the connection opens, or is refused, with this promise. */
  opensWith(connected: Promise<unknown>): void
}

/** Serves one connection; the connection ends with it. */
export type PortHandler = (socket: PortSocket) => void | Promise<void>

/** Finds the handler of a port. Undefined for an unknown port. */
export type PortSource = (pod: Pod, port: number) => PortHandler | undefined
