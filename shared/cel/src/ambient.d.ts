/**
 * What this package may use beyond the language itself: pure functions and plain data types that every runtime has.
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
