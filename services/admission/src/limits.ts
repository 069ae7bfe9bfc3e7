/** Bounds of admission, each with the reason for its number. */
export const limits = {
  /** Interval of sending the admission rules to gateways, which distrust a set older than five seconds. */
  admissionRulesIntervalMs: 1_000,
  /** Namespaces that one admission rule names; the set goes to each gateway every second, so beyond them it matches all. */
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
  /** Longest wait of a pod for the default account of its namespace, which may just have been created. */
  defaultAccountWaitMs: 2_000,
  /** Reservations of one quota that are made and ended by one commit; their row stays far below the bound of one value. */
  quotaTasksMax: 256,
  /** Longest wait of a write for a quota that storage has and memory lacks; changes arrive in milliseconds. */
  quotaArrivalMs: 5_000,
  /** Attempts at a quota that several processes change at once; with a handful of them the last is never reached. */
  quotaAttemptsMax: 32,
  /** Longest delay of the report that a write with a reservation has ended, to join other reports: nothing depends on it. */
  quotaEndingsDelayMs: 250,
  /** Minimum interval between recounts caused by a full quota: a recount reads all objects. */
  quotaCountIntervalMs: 100,
  /** Tolerated difference between machines' clocks: a reservation outlives its write's deadline by this much. */
  quotaDeadlineSlackMs: 5_000,
  /** Longest duration of a write whose caller gives no deadline. */
  quotaDeadlineMs: 60_000,
} as const
