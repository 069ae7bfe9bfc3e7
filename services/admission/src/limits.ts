/** Bounds of admission, each with the reason for its number. */
export const limits = {
  /** How often the admission rules are sent to gateways again, which distrust a set older than five seconds. */
  admissionRulesIntervalMs: 1_000,
  /** Namespaces that one admission rule names; the set goes to each gateway every second, so beyond them it means all. */
  admissionRuleNamespacesMax: 1_000,
  /** Pods of a namespace that a stricter pod security level is held against at once; more tell nothing new, and all are in memory. */
  podSecurityPodsMax: 3_000,
  /** Longest that this may hold up the change of the namespace. */
  podSecurityCheckMs: 1_000,
  /** Answers about images that are remembered: about 1 KB each. */
  imageAnswersMax: 1_024,
  /** Attempts to get an answer about images. */
  imageAttemptsMax: 5,
  /** Longest that a review of images may take, all attempts together. */
  imageReviewMs: 30_000,
  /** How long a pod waits for the default account of its namespace, which may just have been created. */
  defaultAccountWaitMs: 2_000,
  /** Reservations of one quota that are made and ended by one commit; their row stays far below what one value may hold. */
  quotaTasksMax: 256,
  /** How long a write waits for a quota that storage has and memory does not; changes arrive in milliseconds. */
  quotaArrivalMs: 5_000,
  /** Attempts at a quota that several processes change at once; with a handful of them the last is never reached. */
  quotaAttemptsMax: 32,
  /** How long the end of a write that used what it had reserved may wait for company: nothing depends on it. */
  quotaEndingsDelayMs: 250,
  /** Those who find no room have the objects counted again no more often than this, as it means reading them all. */
  quotaCountIntervalMs: 100,
  /** What clocks of machines may differ by: a reservation is kept so much longer than its write may take. */
  quotaDeadlineSlackMs: 5_000,
  /** How long a write may take whose caller does not say how long it waits. */
  quotaDeadlineMs: 60_000,
} as const
