import { describe, expect, test } from 'vitest'
import { EventMessages } from './web-socket.ts'

/** Messages of a stream in pieces of this size. */
function messagesOf(stream: Buffer, pieceBytes: number, isText: boolean): { messages: string[]; fragments: number } {
  const events = new EventMessages(isText)
  const messages: string[] = []
  let fragments = 0
  let message: Buffer[] = []
  for (let start = 0; start < stream.length; start += pieceBytes) {
    for (const { bytes, isLast } of events.fragmentsIn(stream.subarray(start, start + pieceBytes))) {
      fragments += 1
      message.push(bytes)
      if (!isLast) continue
      messages.push(Buffer.concat(message).toString())
      message = []
    }
  }
  expect(message).toEqual([])
  return { messages, fragments }
}

describe('the messages of a stream of events', () => {
  const texts = ['a', 'größe', 'x'.repeat(300), 'b']
  const lines = texts.map((text) => `${text}\n`)
  const delimited = texts.map((text) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(Buffer.byteLength(text))
    return Buffer.concat([length, Buffer.from(text)])
  })

  test.each([1, 2, 3, 5, 100, 10_000])('are the same for lines in pieces of %i bytes', (pieceBytes) => {
    expect(messagesOf(Buffer.from(lines.join('')), pieceBytes, true).messages).toEqual(lines)
  })

  test.each([1, 2, 3, 5, 100, 10_000])('are the same for events with their lengths in pieces of %i bytes', (pieceBytes) => {
    expect(messagesOf(Buffer.concat(delimited), pieceBytes, false).messages).toEqual(texts)
  })

  test('have one fragment for each event that arrives whole', () => {
    expect(messagesOf(Buffer.from(lines.join('')), 10_000, true).fragments).toBe(4)
    expect(messagesOf(Buffer.concat(delimited), 10_000, false).fragments).toBe(4)
  })
})
