import { createHash } from 'node:crypto'

/**
 * Deals a flow a hand of queues: always the same for the same flow, and seldom quite that of another one, so that one that floods
 * its queues leaves the others at least one that is free.
 *
 *   8 queues, hands of 3:   deal('jane') → [6, 0, 3]      deal('batch') → [2, 6, 7]
 */
export function dealHand(flow: string, { queues, handSize }: { readonly queues: number; readonly handSize: number }): number[] {
  let entropy = createHash('sha256').update(flow).digest().readBigUInt64LE()
  const hand: number[] = []
  for (let dealt = 0; dealt < handSize; dealt += 1) {
    const left = BigInt(queues - dealt)
    let card = Number(entropy % left)
    entropy /= left
    // The card counts among those that are still in the deck: it moves up past each lower one that was dealt.
    for (const taken of [...hand].sort((a, b) => a - b)) if (card >= taken) card += 1
    hand.push(card)
  }
  return hand
}
