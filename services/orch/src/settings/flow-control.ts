/** How many requests a gateway works on at a time. */
export const flowControlSettings = {}
