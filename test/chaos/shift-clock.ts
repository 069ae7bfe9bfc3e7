/**
 * A test loads this file into a service's process: the parent process can then move the wall clock, as an administrator or a
 * bad time server would. The monotonic clock and the timers continue unchanged.
 */
const NativeDate = Date
let shiftMs = 0

class ShiftedDate extends NativeDate {
  constructor(...given: [] | ConstructorParameters<DateConstructor>) {
    if (given.length === 0) super(NativeDate.now() + shiftMs)
    else super(...(given as ConstructorParameters<DateConstructor>))
  }

  static override now(): number {
    return NativeDate.now() + shiftMs
  }
}

globalThis.Date = ShiftedDate as DateConstructor

process.on('message', (message: { readonly shiftMs?: number }) => {
  shiftMs = message.shiftMs ?? shiftMs
})
// A listener for messages would keep the process alive when it wants to end.
process.channel?.unref()
