/** Limits of admission, each with the reason for its number. */
export const limits = {
  /** Interval of sending the admission rules to gateways, which distrust rules older than five seconds. */
  admissionRulesIntervalMs: 1_000,
  /**
   * Maximum number of namespaces that one admission rule names. The rules are sent to each gateway every second, so a larger set is replaced by all
   * namespaces.
   */
  admissionRuleNamespacesMax: 1_000,
  /** Maximum number of Pods of a namespace that are checked against a stricter pod security level; all of them are in memory. */
  podSecurityPodsMax: 3_000,
  /** Maximum time that this check may delay the change of the namespace. */
  podSecurityCheckMs: 1_000,
  /** Maximum number of cached answers about images, of about 1 KB each. */
  imageAnswersMax: 1_024,
  /** Maximum number of attempts to get an answer about images. */
  imageAttemptsMax: 5,
  /** Maximum duration of a review of images, including all attempts. */
  imageReviewMs: 30_000,
  /** Maximum wait of a pod for the default account of its namespace, which may just have been created. */
  defaultAccountWaitMs: 2_000,
  /** Maximum number of reservations of one quota in one commit, which keeps its row far below the size limit of a value. */
  quotaTasksMax: 256,
  /** Maximum wait of a write for a quota that is in storage but not in memory; changes arrive in milliseconds. */
  quotaArrivalMs: 5_000,
  /** Maximum number of attempts at a quota that several processes change at once; a handful of processes never reach it. */
  quotaAttemptsMax: 32,
  /** Maximum delay of the report that a write with a reservation has ended, to join other reports, since nothing waits for it. */
  quotaEndingsDelayMs: 250,
  /** Minimum interval between recounts caused by a full quota: a recount reads all objects. */
  quotaCountIntervalMs: 100,
  /** Tolerated clock difference between machines: a reservation outlives its write's deadline by this time. */
  quotaDeadlineSlackMs: 5_000,
  /** Maximum duration of a write whose caller sets no deadline. */
  quotaDeadlineMs: 60_000,
} as const
