/* Words and what they say of a column, English and Spanish, without accents: a list for each class, one
 * space between. Singulars; plurals only where they differ or mean more. */
#include "dashboard/profile_int.h"

static const char *const lists[] = {
    [AL_CLASS_MONEY] =
        "abono amnt amount amt aportacion aporte arancel beneficio bill billed billing bonus boxoffice "
        "bruto budget capex cargo cashflow charge claim cobrado cobro cogs comision commission compensation "
        "compra contribution cost coste costo credit cuantia damage debit deposit desembolso disbursement "
        "donacion donation earning ebit ebitda egreso expenditure expense facturacion facturado facturas "
        "fee fine flete freight funding gain ganancia gasto gmv grant gross importe impuesto indemnizacion "
        "ingreso inversion investment invoiced iva monto multa net neto nomina opex outlay overhead pagado "
        "pago paid payment payout payroll peaje penalty pension perdida premiums presupuesto prima proceeds "
        "profit propina purchase recargo recaudacion recaudo receipt reembolso refund reimbursement retiro "
        "revenue revenues royalty sale shipping spend spending spent sponsorship subsidio subsidy subtotal "
        "surcharge takings taquilla tax tip toll transferencia turnover utilidad vat venta withdrawal grants",
    [AL_CLASS_FLOW] =
        "accidentes accidents acre admissions affected alerts altas apariciones appearances appointments "
        "arrests arrivals asistente assaults assists attacks attempts attendance attendee award bags bajas "
        "ballots barrels births boardings boletos bookings bugs burglaries burned burnt calls cantidad "
        "captura cards cases casos casualties citations clicks clics comentarios comments compartido "
        "complaints confirmado confirmed consumed consumo consumption contagiado contagios contrataciones "
        "conversions copies correos cosecha crashes crimes dead deals deaths defect defunciones delitos "
        "deliveries demand denuncias departures deportations desastres descargas despidos detencion died "
        "disasters discharges disease displaced divorces divorcios donor doses dosis downloads earthquakes "
        "emails emigrants emision emission emissions entradas entrega envios errors evacuated events export "
        "exportacion exports exposed failures fallecido fallecimientos fatalities flights fouls generacion "
        "generated generation goals goles grants gwh harvest heridos hire hires hits homeless homicides "
        "homicidios hospitalizacion hospitalizations hurricanes hurto immigrants import importacion imports "
        "impresiones impressions incendios incidentes incidents infected infections injured injuries "
        "inscripciones installs items killed kwh landing landings layoffs leads likes llamadas llegadas "
        "lluvia losses mails marriages matrimonios meals medals mensajes messages migrants missed muertes "
        "murders mwh nacido nacimientos nevada nominations offences offenses orders outage output overdoses "
        "packages pageviews parcels pasajeros passengers passes patents pedidos pernoctacion pieces played "
        "plays points posts prcp precip precipitacion precipitation printeds produccion produced producido "
        "production projects pruebas publications qty quakes quantity quejas rain rainfall rebounds "
        "reclamos recovered recoveries recuperado refugees registration registro replies requests resenas "
        "residuo resignations retweet reviews rides robberies robos runs sacrificado salidas scored "
        "sesiones sessions shares shipments shootings signup signups siniestros sismos snow snowfall sold "
        "steals storms streams strikes suicides suicidios supply tackles terminations tested tests thefts "
        "ticket tonnage tonne tons tornados trades traffic transaccion transactions trips turistas twh "
        "unidades units uploads usage vaccinations vacuna vacunacion vendido venta viajes victimas victims "
        "views violations visitante visitas visitors visits vol volume volumen volumes votes votos vuelos "
        "waste wedding wildfires wins wounded wounds yielded",
    [AL_CLASS_MASS] =
        "attendance cantidad cargo consumed consumo consumption cosecha demand emision emission emissions "
        "export exportacion exports freight generacion generated generation gwh harvest import importacion "
        "imports kwh lluvia mwh nevada output prcp precip precipitacion precipitation produccion produced "
        "producido production qty quantity rain rainfall residuo snow snowfall supply tonnage tonne tons "
        "traffic twh unidades units usage vol volume volumen volumes waste",
    [AL_CLASS_COUNT] = "cantidad cnt conteo count ct n nbr num qty quantity recuento tally",
    [AL_CLASS_TOTAL] = "aggregate combined sum suma tot total totales ttl",
    [AL_CLASS_CUMULATIVE] =
        "accumulated acumulada acumulado cum cumul cumulated cumulative cumulativo mtd qtd running todate "
        "ytd",
    [AL_CLASS_LEVEL] =
        "accounts adults afiliados aforo ahorro alumnos army assets aum backlog backlogs balance beds boys "
        "camas capacity cartera cattle censo children citizens clientes clients customers debt desempleado "
        "deuda docentes doctors dwellings electores empleados employed employees enrolled enrollment "
        "enrolment equity estudiantes existencia familias families fans farms females fleet followers gdp "
        "gente girls gni gnp habitantes headcount headcounts hogares hogars holdings hombres homes "
        "hospitals households houses inhabitants inmates inventario inventory jobs jubilados kids "
        "liabilities livestock males matriculado members membership men miembros mujeres ninas ninos "
        "noncitizen nurses occupied ocupado onhand outstanding pacientes parado pasivo patients patrimonio "
        "payable pending pensionado pensionista people persona persons physicians pib plantilla poblacion "
        "pop population populations preso prisoners profesores pupils receivable recluso reserves reservoir "
        "residentes residents saldo saving schools seguidores socios soldiers staff stock storage students "
        "subscribers suscriptores taxpayers teachers trabajadores troop troops unemployed users usuarios "
        "varones vehicles veterans viviendas voters wip women workers workforce",
    [AL_CLASS_LEVEL_RATE] =
        "alfabetizacion desempleo empleo employment female hombre literacy male mujer paro participation "
        "pobreza poverty unemployment vacancy",
    [AL_CLASS_RATE] =
        "accuracy acousticness alfabetizacion alpha apr apy aqi arppu arpu attrition auc availability "
        "average avg beta bleu bounce calidad calificacion capita ces chance churn co2 cobertura cociente "
        "coef coefficient compliance concentracion concentration confianza confidence conversion corr "
        "correlation corruption coverage cpa cpc cpm crecimiento csat ctr cuartil cumplimiento cuota "
        "danceability deflator delta densidad density desviacion deviation diferencia diff difference "
        "disponibilidad efficiency eficiencia elasticity entropy esperanza estrella estrellas expect "
        "expectancy expectation f1 factor fecundidad felicidad fertility fraction frecuencia freedom freq "
        "frequency generosity gini gpa grade growth happiness humedad humidity importance incidence "
        "incidencia index indicador indice inflacion inflation intensidad intensity kurtosis likelihood "
        "literacy ln log loudness mae mean med media median mediana mid mom mortalidad mortality mse "
        "multiple multiplier natalidad natality nom norm normalised normalized nota nps occupancy odds "
        "participacion participation payback pct pctl perc percapita percent percentage percentil "
        "percentile perplexity ph polarity popularidad popularity porcentaje porciento ppb ppm prcnt "
        "precision prevalence prevalencia prob probabilidad probability productividad productivity prom "
        "promedio proporcion proportion puntaje puntuacion qoq quality quantile quartile rate rating "
        "ratings ratio razon recall relacion relative rendimiento ret retencion retention return rmse roa "
        "roas roe roi satisfaccion satisfaction score sd sem sentiment share sharpe sigma similarity skew "
        "spread star stars std stddev stderr stdev subjectivity tasa tir trust turnout typical uptime "
        "utilisation utilization uv valence valoracion var variacion variance varianza variation velocity "
        "volatilidad volatility weightage weighting yield yoy zscore",
    [AL_CLASS_UNIT] =
        "acceleration aceleracion acidity age airbag alcohol alquiler altitud altitude altura ancho anchura "
        "annualized antiguedad appraisal area ask assessed avaluo bathroom bedroom bid bmi bp bpm "
        "brightness caffeine calorie calories cambio carbohydrate carbs chlorides chol cholesterol close "
        "conductivity costperunit cotizacion cylinder delay demora depth dewpoint diameter diametro "
        "diastolic displacement distance distancia door duracion duration edad elevacion elevation espera "
        "espesor exchange experience experiencia fare fat fiber fibre floor gap garage gear glucose gust "
        "hba1c height high horsepower hourly hp imc income interval jornal lag largo latencia latency "
        "length lifespan listprice longitud low luminosity mag magnitud magnitude masa mass milage mileage "
        "mpg msrp mv nitrogen odometer oxygen pace perimeter peso phosphorus porcion potencia power precio "
        "premium presion pressure price profundidad protein pulse pulso quote radiation radio radius rent "
        "renta rental retraso room runtime salario salary saleprice salinity seat seniority serving signal "
        "size sodium speed storey sueldo sugar sulphates superficie surface systolic tamano tarifa tasacion "
        "tavg temp temperatura temperature tenure thalach thickness tiempo time tmax tmean tmin torque "
        "trestbps turbidity unitcost unitprice valuation velocidad viento visibility vitamin voltage "
        "voltaje vwap wage wait waiting weight width wind x y z",
    [AL_CLASS_MEASURED] =
        "amp anio ano bar billion bps byte c cal cc celsius cm day days db deg degree dia dias dpi f "
        "fahrenheit feet foot ft g gal gallon galon gb ghz gr grado gram gramo gwh ha hectare hectarea hora "
        "hour hpa hr hrs hz in inch inches joule k kb kbps kcal kelvin kg khz kilo kilogram kilogramo "
        "kilometer kilometre kilometro kj km km2 kmh knot kpa kph kw kwh l lb lbs libra liter litre litro m "
        "m2 m3 mah mb mbar mbps mes meter metre metro mg mhz mi mil mile miles milimetro milla million "
        "millon min minute minuto ml mm month mph ms mw mwh onza ounce oz pa pixel pound ppm psi px rpm s "
        "sec second segundo semana sf sqft sqm tb thousand twh volt watt week wh yard yd year yr",
    [AL_CLASS_SIZE] = "descuento discount margen margin markup rebate",
    [AL_CLASS_PERCENT] =
        "attrition bounce churn cobertura conversion coverage ctr cuota descuento discount fraction margen "
        "margin occupancy participacion pct perc percent percentage porcentaje porciento prcnt prob "
        "probabilidad probability proporcion proportion rate retention share tasa turnout utilisation "
        "utilization",
    [AL_CLASS_STATISTIC] =
        "ci ci95 hi iqr lci lo lower max maxima maximo maximum min minima minimo minimum moe p25 p75 p90 "
        "p95 p99 q1 q3 quantile sd se sem std stddev stderr stdev uci uncertainty upper variance",
    [AL_CLASS_ID] =
        "asin cedula cif cuil cuit curp customerid dni doi ean expediente folio guid hash iban id "
        "identificador identifier ids imdbid imei isbn issn key nconst nie nif nit objectid oid orderid "
        "pasaporte passport pk placa recordid ref reference referencia respondentid rfc rowid rownum "
        "rownumber rut serial sku ssn swift tconst uid upc userid uuid vin pid",
    [AL_CLASS_NUMBER] = "nbr no nr nro num number numero numeric numerico",
    [AL_CLASS_CODE] =
        "batch cas ccode celular clave cod code codigo countrycode cow cowcode cp cusip cve dane ext "
        "extension fax fips geoid gwcode hs hscode iata icao icpsr ine ip isin iso iso2 iso2c iso3 iso3c "
        "isocode lote mobile movil naics npi phone plu port postal postalcode postcode postcodes sic tel "
        "telefono telephone ubigeo version zip zipcode",
    [AL_CLASS_RANK] = "placing posicion position puesto rank ranking rk standing pos",
    [AL_CLASS_PLACE] =
        "coord coordenada coordinate easting lat latitud latitude lng lon longitud longitude northing",
    [AL_CLASS_DIMENSION] =
        "actor aerolinea aeropuerto agent agente airline airport answer arm artist artista author autor "
        "band barangay barrio batch block bloque body bracket branch brand browser cage campaign campana "
        "canal cargo carrier categoria category center centre channel city ciudad clarity clase class "
        "client cliente clima clinic cluster cohort col color colour company comuna condado condition "
        "conductor continent continente country county cultivar currency cust customer cut dataset day "
        "departamento department dept device diet director distributor district distrito division drive "
        "driver educacion education emp employer empresa encuestado enumerator equipo escuela especie "
        "estacion estado etapa ethnicity etnia event fabricante farm fase field fuel fuente gender genero "
        "genotype genre gerente grade group grupo hospital idioma industria industry inst institution "
        "interviewer isla island job judge jugador kind lab label language league level liga line linea "
        "litter location machine make manager manufacturer maquina marca market material medium mercado "
        "method metodo mode model modelo moneda motivo mpaa municipality municipio neighborhood "
        "neighbourhood network nivel occupation ocupacion office oficina origen origin outcome paciente "
        "pair pais panel participant participante partido party patient payment phase plan plant planta "
        "plataforma platform player plot prioridad priority prod product producto proveedor province "
        "provincia psu pt quadrat quarter question race rater raza reason region rep replicate replication "
        "respondent result resultado rol role run salesperson school season sector sede segment segmento "
        "seller sensor series severity sex sexo shape shift site sitio source species stage state station "
        "status store strain stratum studio study subj subject subscription sucursal supplier symbol tag "
        "team tema temporada term theme ticker tienda tier tipo topic transect transmission treatment "
        "trimestre trt turno type ubicacion universidad university variedad variety vendedor vendor village "
        "ward wave weather weekday zona zone firm locomotive tank animal tree herd nest census tract",
    [AL_CLASS_OUTCOME] =
        "abandono accepted admitted approved aprobado attrition cancelado canceled cancelled churn churned "
        "clicked complaint conversion converted dead death deceased default defaulted delayed devuelto "
        "diabetes died disease exited exito fallecio fraud fraude fraudulent ganado hired late mora moroso "
        "ontime outcome passed promoted purchased readmitted recovered reincidencia resolved responded "
        "response returned sobrevivio stroke subscribed success successful survival survived target win "
        "winner won",
    [AL_CLASS_TIME] =
        "begin booking created cuando date datetime day dia dt event fecha fechahora hora inicio invoice "
        "invoiced measured mes month observed occurred order pedido period periodo posted published "
        "purchased quarter recorded release released sale semana sold start time timestamp transaction ts "
        "visit week when",
    [AL_CLASS_LATER] =
        "accessed actualizado birth born changed cierre closed closing completed deleted delivered delivery "
        "dob due edited end entrega envio expiration expires expiry extracted fin finish finished forecast "
        "ingested last loaded modificado modified nacimiento processed resolved retrieved ship shipped "
        "ultima ultimo updated vencimiento",
    [AL_CLASS_YEAR] = "anio annee anno ano ejercicio fy jahr modelyear year yr yyyy",
    [AL_CLASS_YEARLY] =
        "begin birth born built closed cohort constructed construction construido decada decade desde died "
        "discovered discovery edicion edition end established fin first founded from fundacion fundado "
        "graduacion graduation hasta inicio joined lanzamiento last launch launched made nacimiento opened "
        "period periodo publicado publication published reign release released season since start temporada "
        "term to vintage",
    [AL_CLASS_STEP] =
        "bimestre capitulo chapter day dia dow doy episode episodio epoch fila fortnight frame hora hour "
        "idx index indice iter iteration jornada lap line mes minute minuto month moy obs observation ola "
        "orden paso position quarter quincena ronda round row second secuencia segundo semana semester "
        "semestre seq sequence step tick timepoint trial trimestre vuelta wave week weekday",
    [AL_CLASS_GENERIC] =
        "amount cantidad count data dato figure measure measurement medicion medida metric n num number "
        "numero obs observacion observation quantity result resultado total val valor value",
    [AL_CLASS_LINK] =
        "avatar enlace foto href image imagen img link logo permalink photo picture poster thumbnail uri "
        "url web webpage website wikipedia",
    [AL_CLASS_MINOR] =
        "adj adjusted anterior baseline cambio change descuento discount estimate estimated expected fee "
        "forecast freight iva lag meta muestra objetivo prediction prev previous prior sample shipping "
        "target tax variacion variation vat refused unknown missing",
    [AL_CLASS_BETTER] = "actual all close global grand overall total worldwide",
};

const char *al_word_list(enum al_word_class c)
{
    return (size_t)c < sizeof lists / sizeof *lists && lists[c] ? lists[c] : "";
}
