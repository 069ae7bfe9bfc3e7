/** The reason of an end that no caller asks about. An `abort` without a reason makes an error with a stack, some microseconds each. */
export const ended = new Error('ended')
