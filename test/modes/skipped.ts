/** A test that means nothing in one way of joining the services, and the reason. */
export interface Skipped {
  /** The path from the root of the project. */
  readonly file: string
  /** Titles from the outermost group inwards, joined by ` > `; the title of a group names all tests of the group. */
  readonly title: string
  readonly reason: string
}

const ownProcess = 'admission counts in processes of its own'
const fakeClock = 'moves a fake clock, and calls between services need one that runs'
const manyWrites = 'writes so much that it takes minutes over several services, whose contracts are tried with as much (test/contracts)'
const oneSeed = 'one seed is enough where each takes its time'
const twoGateways = 'compares whole answers, and two gateways differ in their address and in the revision that a later list is true at'

/** Tests that mean nothing with the services apart. */
const meaningless: readonly Skipped[] = [
  {
    file: 'test/api/watch.test.ts',
    title: 'the end of a watch, and bookmarks > WATCH-10: the last bookmark is sent two seconds before the end',
    reason: fakeClock,
  },
  {
    file: 'test/api/watch.test.ts',
    title: 'the end of a watch, and bookmarks > WATCH-11, READ-20: a bookmark is sent about once a minute',
    reason: fakeClock,
  },
  {
    file: 'test/api/list.test.ts',
    title: 'query parameters of a list > QP-01, QP-21: pretty=true indents the answer',
    reason: twoGateways,
  },
  {
    file: 'test/api/formats.test.ts',
    title: 'answers in Protobuf > NEG-03: have list metadata in field 1 and items in field 2, the second time too',
    reason: twoGateways,
  },
  {
    file: 'test/api/deletion.test.ts',
    title: 'Events > WATCH-21: are deleted at their expiry, by an ordinary deletion',
    reason: fakeClock,
  },
  {
    file: 'test/api/watch.test.ts',
    title: 'the start of a watch > WATCH-15, WATCH-20, WATCH-22, ERR-08: at a compacted version is one ERROR with 410, and the end',
    reason: manyWrites,
  },
  {
    file: 'test/api/list.test.ts',
    title: 'query parameters of a list > LIM-05: ten thousand objects are served in one list and in chunks',
    reason: manyWrites,
  },
  { file: 'test/api/garbage.test.ts', title: 'background deletion > DEL-12: a thousand dependants are deleted', reason: manyWrites },
  {
    file: 'test/admission/webhook-matching.test.ts',
    title: 'custom objects that a conversion webhook converts > have the conversions of admission counted with those of requests',
    reason: ownProcess,
  },
  { file: 'test/api/copies.test.ts', title: 'seed 77', reason: oneSeed },
  { file: 'test/api/copies.test.ts', title: 'seed 777', reason: oneSeed },
]

const oneDecides = 'starts services of its own for what a gateway decides alone: ORCH_TEST_APART=all runs it'

/** Tests that `ORCH_TEST_APART=all` runs, like the files of the decisions of one service. */
const ofOneService: readonly Skipped[] = [
  { file: 'test/api/list.test.ts', title: 'pages > CHUNK-02: do not exist with the gate off', reason: oneDecides },
  { file: 'test/api/objects.test.ts', title: 'metadata > META-09: with a taken generated name may be tried again', reason: oneDecides },
  { file: 'test/api/objects.test.ts', title: 'metadata > META-09: with a taken generated name gets another name', reason: oneDecides },
]

/** Tests that are skipped with the services apart. A run fails if it skips other or fewer tests. */
export const skippedInDistributed: readonly Skipped[] =
  process.env['ORCH_TEST_APART'] === 'all' ? meaningless : [...meaningless, ...ofOneService]
