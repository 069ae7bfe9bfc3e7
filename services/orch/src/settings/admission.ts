/** What admission lets pass. */
export const admissionSettings = {}
