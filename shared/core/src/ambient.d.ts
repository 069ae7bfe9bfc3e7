/**
 * The globals that core may use besides the language itself: pure functions and plain data types of every runtime.
 * No clock, no timers, no network, no process; add nothing here that touches the world.
 */
declare class TextEncoder {
  encode(input?: string): Uint8Array<ArrayBuffer>
  encodeInto(source: string, destination: Uint8Array): { read: number; written: number }
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })
  decode(input?: Uint8Array | ArrayBuffer, options?: { stream?: boolean }): string
}

declare function structuredClone<T>(value: T): T
declare function btoa(data: string): string
declare function atob(data: string): string

interface AbortSignal {
  readonly aborted: boolean
  readonly reason: unknown
  throwIfAborted(): void
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}
