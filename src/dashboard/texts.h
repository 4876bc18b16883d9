/* AL_DASH_TEXT(id, English, Spanish): every word of a page and its notes. {0} … are gaps. A further language is a further
 * column here and a line in text.c. Included more than once. */
AL_DASH_TEXT(TITLE_EXECUTIVE, "Executive dashboard", "Panel ejecutivo")
AL_DASH_TEXT(TITLE_OPERATIONAL, "Operational dashboard", "Panel operativo")
AL_DASH_TEXT(TITLE_ANALYTICAL, "Analytical dashboard", "Panel analítico")
