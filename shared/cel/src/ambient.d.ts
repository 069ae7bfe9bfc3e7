/**
 * The globals that this package may use besides the language itself: pure functions and plain data types of every runtime.
 * No clock, no timers, no network, no process; add nothing here that touches the world.
 */
declare class TextEncoder {
  encode(input?: string): Uint8Array<ArrayBuffer>
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })
  decode(input?: Uint8Array | ArrayBuffer): string
}

declare function atob(data: string): string
declare function btoa(text: string): string
