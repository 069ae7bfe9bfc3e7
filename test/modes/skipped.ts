/** A test that has no meaning in one way of joining the services, and why. */
export interface Skipped {
  /** From the root of the project. */
  readonly file: string
  /** Titles from the outermost group inwards, joined by ` > `; a group alone stands for all its tests. */
  readonly title: string
  readonly reason: string
}

const fakeClock = 'moves a fake clock, and calls between services need one that runs'
const twoGateways = 'compares whole answers, and two gateways differ in their address and in the revision that a later list is true at'

/** Tests that are skipped where the services are apart. A run that skips others, or fewer, fails. */
export const skippedInDistributed: readonly Skipped[] = [
  { file: 'test/api/watch.test.ts', title: 'the end and bookmarks > WATCH-11: about once a minute there is a bookmark', reason: fakeClock },
  { file: 'test/api/list.test.ts', title: 'query parameters of a list > QP-01, QP-21: pretty=true indents', reason: twoGateways },
  {
    file: 'test/api/formats.test.ts',
    title: 'Protobuf out > NEG-03: a list has its metadata in field 1 and its items in field 2, the second time too',
    reason: twoGateways,
  },
  { file: 'test/api/deletion.test.ts', title: 'Events > WATCH-21: go when their time is over, by an ordinary deletion', reason: fakeClock },
]
