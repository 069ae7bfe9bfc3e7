import { UnknownOutcomeError } from '@orch/core/contracts'
import { expect, test } from 'vitest'
import { systemClock } from '../clock.ts'
import { FrameCaller } from './frame-caller.ts'
import type { ReplyItem } from './frames.ts'

test('a call that gets the end of a stream as its answer has an unknown outcome', async () => {
  let reply: (item: ReplyItem) => void = () => {}
  const caller = new FrameCaller({
    port: {
      write: () => true,
      once: () => {},
      listen: ({ take }) => {
        reply = take
      },
      end: () => {},
    },
    clock: systemClock,
    onGone: () => {},
  })
  const asked = caller.send('ask', new Uint8Array(), {})
  reply({ kind: 'end', id: 1 })
  await expect(asked).rejects.toBeInstanceOf(UnknownOutcomeError)
})
